"""An FT-Transformer of 3 layers of width 192 with random weights, and Kernel SHAP of one of its rows, beside shap."""
import json
import subprocess
import time
from pathlib import Path

import numpy as np
import shap
import torch

COALITIONS = 2048


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


class FeatureTransformer(torch.nn.Module):
    """A class token and one token per column, pre-norm layers, the class token read."""

    def __init__(self, columns=14, width=192, layers=3, heads=8):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(columns, width) * 0.3)
        self.bias = torch.nn.Parameter(torch.randn(columns, width) * 0.3)
        self.token = torch.nn.Parameter(torch.randn(1, 1, width) * 0.3)
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(width, heads, 256, 0.0, "gelu", batch_first=True, norm_first=True)
            for _ in range(layers))
        self.norm = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, 2)

    def forward(self, numbers):
        tokens = numbers.unsqueeze(-1) * self.weight + self.bias
        x = torch.cat([self.token.expand(numbers.shape[0], -1, -1), tokens], 1)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x[:, 0]))


class Row:
    """The contestants on a row of a table."""

    def __init__(self, program, folder):
        self.program, self.folder = program, Path(folder)
        torch.manual_seed(0)
        self.model = FeatureTransformer().eval()
        torch.backends.mha.set_fastpath_enabled(False)
        torch.onnx.export(self.model, (torch.zeros(3, 14),), str(self.folder / "table.onnx"), input_names=["numbers"],
                          output_names=["logits"], dynamic_axes={"numbers": {0: "rows"}}, dynamo=False)
        torch.backends.mha.set_fastpath_enabled(True)
        random = np.random.RandomState(1)
        self.background, self.row = random.randn(100, 14), random.randn(1, 14)
        for name, rows in [("background", self.background), ("row", self.row)]:
            np.savetxt(self.folder / f"{name}.csv", rows, delimiter=",", fmt="%.17g")

    def predict(self, rows):
        with torch.no_grad():
            return self.model(torch.tensor(rows, dtype=torch.float32)).numpy()[:, 1]

    def predict_in_batches(self, rows):
        return np.concatenate([self.predict(part) for part in np.array_split(rows, max(1, len(rows) // 1024))])

    def shap_seconds(self, function):
        explainer = shap.KernelExplainer(function, self.background)
        return seconds(lambda: explainer.shap_values(self.row, nsamples=COALITIONS, l1_reg=False, silent=True))

    def our_run(self, threads="2"):
        out = subprocess.run([self.program, "explain", "--model", self.folder / "table.onnx", "--table",
                              self.folder / "row.csv", "--background", self.folder / "background.csv", "--target", "1",
                              "--threads", threads, "--method", "kernel-shap", "-o",
                              f"kernel-shap.samples={COALITIONS}", "--json", "-"],
                             capture_output=True, text=True, check=True).stdout
        return json.loads(out)["attributions"][0]

#!/usr/bin/env python3
"""Train examples/data/wine.onnx: a small FT-Transformer that tells three Italian wines apart by 13 measurements.

Only needed to retrain; the examples read the file.

    pip install torch==2.15.0 onnx==1.23.2 scikit-learn==1.9.1
    python scripts/train_wine.py

Every third of scikit-learn's 178 wines is held out. Each measurement becomes a token, a class token is read out
(Gorishniy et al., NeurIPS 2021). The file takes measurements as they are and scales them itself.
"""

from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

OUT = Path(__file__).resolve().parents[1] / "examples" / "data" / "wine.onnx"
WIDTH, HEADS, LAYERS, EPOCHS = 16, 4, 2, 300


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention, self.before_feed_forward = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.out = nn.Linear(WIDTH, WIDTH)
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def heads(self, x):
        return x.reshape(x.shape[0], -1, HEADS, WIDTH // HEADS).transpose(1, 2)

    def forward(self, x):
        normed = self.before_attention(x)
        query, key, value = (self.heads(part(normed)) for part in (self.query, self.key, self.value))
        attention = torch.softmax(query @ key.transpose(2, 3) / (WIDTH // HEADS) ** 0.5, dim=-1)
        x = x + self.out((attention @ value).transpose(1, 2).reshape(x.shape))
        return x + self.feed_forward(self.before_feed_forward(x))


class FTTransformer(nn.Module):
    def __init__(self, mean, deviation, outputs=3):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("deviation", deviation)
        self.weight = nn.Parameter(torch.randn(len(mean), WIDTH) / WIDTH**0.5)
        self.bias = nn.Parameter(torch.randn(len(mean), WIDTH) / WIDTH**0.5)
        self.class_token = nn.Parameter(torch.randn(1, 1, WIDTH) / WIDTH**0.5)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, outputs))

    def forward(self, measurements):
        scaled = (measurements - self.mean) / self.deviation
        tokens = scaled[:, :, None] * self.weight + self.bias
        tokens = torch.cat([self.class_token.expand(tokens.shape[0], 1, WIDTH), tokens], dim=1)
        return self.head(self.blocks(tokens)[:, 0])


def main():
    from sklearn.datasets import load_wine

    torch.manual_seed(0)
    torch.set_num_threads(1)
    wine = load_wine()
    data, answers = torch.tensor(wine.data, dtype=torch.float32), torch.tensor(wine.target)
    held_out = torch.arange(len(data)) % 3 == 0
    training = data[~held_out]
    model = FTTransformer(training.mean(0), training.std(0))
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
    for _ in range(EPOCHS):
        noisy = training + 0.2 * model.deviation * torch.randn_like(training)
        loss = F.cross_entropy(model(noisy), answers[~held_out], label_smoothing=0.1)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.eval()
    right = (model(data).argmax(1) == answers).float()
    print(f"right: {right[~held_out].mean():.1%} of the training wines, {right[held_out].mean():.1%} of those held out")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(model, (data[:2],), OUT, input_names=["measurements"], output_names=["logits"],
                      dynamic_axes={"measurements": {0: "batch"}, "logits": {0: "batch"}}, dynamo=False,
                      opset_version=17)


if __name__ == "__main__":
    main()

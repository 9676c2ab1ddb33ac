#!/usr/bin/env python3
"""Export golden text models to ONNX: the same weights in another container.

    pip install torch==2.15.0 transformers==5.22.2 onnx==1.23.2 onnxscript==0.7.2
    python scripts/golden/onnx_text_golden.py

Reads tests/golden/models/NAME and writes tests/golden/onnx/text/NAME.onnx. The exporter, the opset and
the spelling of attention differ from model to model, so that a few files cover many spellings. Two files more:
distilbert-one-text.onnx is exported for one text at a time, and in bert-one-projection.onnx one Linear makes queries,
keys and values.
"""

import warnings
from pathlib import Path

import onnx
import torch
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

ROOT = Path(__file__).resolve().parents[2] / "tests/golden"

# name: (exporter, opset, attention)
MODELS = {
    "albert-shared": ("legacy", 11, "eager"),
    "bert": ("legacy", 14, "sdpa"),
    "bert-gelu-new": ("legacy", 11, "eager"),
    "bert-mean-pooling": ("new", 18, "eager"),
    "bert-multi-label": ("new", 23, "sdpa"),
    "distilbert": ("new", 20, "sdpa"),
    "electra": ("legacy", 17, "eager"),
    "roberta": ("new", 18, "sdpa"),
}


def strip(path):
    """Without the exporter's notes on where each node came from."""
    model = onnx.load(path)
    del model.metadata_props[:]
    del model.graph.metadata_props[:]
    del model.graph.value_info[:]
    for item in [*model.graph.node, *model.graph.input, *model.graph.output, *model.graph.initializer]:
        item.ClearField("doc_string")
        item.ClearField("metadata_props")
    onnx.save(model, path)


class Third(torch.nn.Module):
    """A part of what one Linear makes of the same rows; the first of them runs it."""

    def __init__(self, number, made):
        super().__init__()
        self.number, self.made = number, made

    def forward(self, rows):
        return self.made[self.number]


class FirstThird(torch.nn.Module):
    def __init__(self, layers, made):
        super().__init__()
        self.joint = torch.nn.Linear(layers[0].in_features, sum(layer.out_features for layer in layers))
        self.joint.weight.data = torch.cat([layer.weight.data for layer in layers])
        self.joint.bias.data = torch.cat([layer.bias.data for layer in layers])
        self.made = made

    def forward(self, rows):
        self.made[:] = self.joint(rows).chunk(3, dim=-1)
        return self.made[0]


def join_projections(model):
    for layer in model.bert.encoder.layer:
        own, made = layer.attention.self, []
        own.query = FirstThird([own.query, own.key, own.value], made)
        own.key, own.value = Third(1, made), Third(2, made)


def export(name, exporter, opset, attention, one_text=False, one_projection=False):
    folder = ROOT / "models" / name
    config = AutoConfig.from_pretrained(folder)
    classifies = (config.architectures or [""])[0].endswith("ForSequenceClassification")
    kind = AutoModelForSequenceClassification if classifies else AutoModel
    model = kind.from_pretrained(folder, attn_implementation=attention, dtype=torch.float32).eval()
    if one_projection:
        join_projections(model)
    ids = torch.randint(3, config.vocab_size, (1 if one_text else 2, 7), generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if config.model_type in ("albert", "bert", "electra"):
        inputs["token_type_ids"] = torch.zeros_like(ids)
    output = "logits" if classifies else "last_hidden_state"
    variant = "-one-text" if one_text else "-one-projection" if one_projection else ""
    path = ROOT / "onnx/text" / f"{name}{variant}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    shared = dict(input_names=list(inputs), output_names=[output], opset_version=opset)
    arguments = (model, (), str(path))
    if exporter == "legacy":
        axes = {key: {0: "batch", 1: "tokens"} for key in inputs}
        axes[output] = {0: "batch"}
        torch.onnx.export(*arguments, kwargs=inputs, dynamic_axes=axes, dynamo=False, **shared)
    else:
        batch, tokens = torch.export.Dim("batch"), torch.export.Dim("tokens", max=16)
        shapes = {key: {1: tokens} if one_text else {0: batch, 1: tokens} for key in inputs}
        torch.onnx.export(*arguments, kwargs=inputs, dynamic_shapes=shapes, dynamo=True,
                          external_data=False, **shared)
    strip(path)
    print(f"{path.name}: {exporter} exporter, opset {opset}, {attention}, {path.stat().st_size} bytes")


def main():
    warnings.filterwarnings("ignore")
    for name, how in MODELS.items():
        export(name, *how)
    export("distilbert", *MODELS["distilbert"], one_text=True)
    export("bert", "legacy", 14, "eager", one_projection=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes tests/golden/tables/onnx: the same weights as an ONNX file and as a state_dict.

Made with Python 3.11, torch 2.15.0, onnx 1.23.2, safetensors 0.8.0 and

    pip install --no-deps rtdl_revisiting_models==0.0.2
    python scripts/golden/table_onnx_golden.py

FT-Transformers with 3 numbers and 2 categories, in 32 bits: "one-logit" has one output, "two" has two.
"""

import pathlib

import torch
from rtdl_revisiting_models import FTTransformer
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).parents[2] / "tests/golden/tables/onnx"


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, outputs in [("one-logit", 1), ("two", 2)]:
        module = FTTransformer(n_cont_features=3, cat_cardinalities=[3, 2], d_out=outputs, n_blocks=2, d_block=8,
                               attention_n_heads=2, attention_dropout=0.0, ffn_d_hidden=None, ffn_d_hidden_multiplier=1.5,
                               ffn_dropout=0.0, residual_dropout=0.0).eval()
        generator = torch.Generator().manual_seed(5)
        with torch.no_grad():
            for tensor in module.parameters():
                tensor.copy_(torch.randn(tensor.shape, generator=generator) * 0.5)
        save_file(module.state_dict(), FOLDER / f"{name}.safetensors")
        # The package asks for lengths, which the exporter writes down as numbers: a file for one row.
        inputs = (torch.zeros(1, 3), torch.zeros(1, 2, dtype=torch.int64))
        torch.onnx.export(module, inputs, FOLDER / f"{name}.onnx", input_names=["x_cont", "x_cat"],
                          output_names=["logits"], dynamo=False)
        for suffix in ("onnx", "safetensors"):
            print(name, suffix, (FOLDER / f"{name}.{suffix}").stat().st_size)


if __name__ == "__main__":
    main()

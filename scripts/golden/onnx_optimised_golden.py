#!/usr/bin/env python3
"""Writes tests/golden/onnx_optimised: a small BERT and a small ViT, fused and quantised by ONNX Runtime.

Made with Python 3.11, torch 2.15.0, transformers 5.22.2, onnx 1.23.2, onnxruntime 1.31.1, numpy 2.4.6:

    pip install torch==2.15.0 transformers==5.22.2 onnx==1.23.2 onnxruntime==1.31.1 numpy==2.4.6
    python scripts/golden/onnx_optimised_golden.py

Each file is a model with further initialisers: `given.<input>` and `expected.<output>`, what it was given
and what ONNX Runtime computed; `tolerance`, as a part of the largest number expected; `sites`, how many
attention layers it has: self-attention, causal self-attention, attention to other tokens. Integer products are exact (session.x64quantprecision); a whole network of them
is not, since one rounding that falls the other way changes every number behind it.
"""

import argparse
import logging
import pathlib
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime as ort
import torch
import transformers
from onnx import numpy_helper
from onnxruntime import quantization
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions

FOLDER = pathlib.Path(__file__).parents[2] / "tests/golden/onnx_optimised"
LAYERS, HEADS, WIDTH = 2, 2, 16
KEPT = {"bert_fused", "bert_fused_heads", "bert_fused_half", "bert_fused_dynamic", "bert_dynamic_as_run",
        "bert_bits", "vit_dynamic", "vit_as_run", "vit_static_operators", "vit_static_pairs"}
EXACT, HALF, QUANTISED = 1e-5, 2e-3, 3e-2


def bert():
    config = transformers.BertConfig(
        vocab_size=40, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=32, max_position_embeddings=16, num_labels=3, attn_implementation="eager")
    config.initializer_range = 0.4
    ids = torch.randint(3, 40, (2, 7))
    mask = torch.ones_like(ids)
    mask[1, 5:] = 0
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}
    return transformers.BertForSequenceClassification(config).eval(), inputs


def vit():
    config = transformers.ViTConfig(
        image_size=16, patch_size=8, hidden_size=WIDTH, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, intermediate_size=32, num_labels=3, attn_implementation="eager")
    config.initializer_range = 0.4
    return transformers.ViTForImageClassification(config).eval(), {"pixel_values": torch.randn(2, 3, 16, 16)}


def export(model, inputs, path):
    axes = {name: {0: "batch", 1: "tokens"} if value.ndim == 2 else {0: "batch"} for name, value in inputs.items()}
    torch.onnx.export(model, tuple(inputs.values()), path, input_names=list(inputs), output_names=["logits"],
                      dynamic_axes={**axes, "logits": {0: "batch"}}, opset_version=17, dynamo=False)


def session(model, level, saved=None):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.x64quantprecision", "1")
    if saved is not None:
        options.optimized_model_filepath = str(saved)
    return ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


class Calibration(quantization.CalibrationDataReader):
    def __init__(self, inputs):
        self.rest = [inputs]

    def get_next(self):
        return self.rest.pop() if self.rest else None


class Variants:
    """Makes the variants of one exported model in a scratch folder."""

    def __init__(self, name, plain, inputs, folder):
        self.name, self.plain, self.inputs, self.folder = name, plain, inputs, folder

    def path(self, kind):
        return self.folder / f"{self.name}_{kind}.onnx"

    def fused(self, kind, half=False, **settings):
        options = FusionOptions(self.name)
        for key, value in settings.items():
            setattr(options, key, value)
        made = optimizer.optimize_model(str(self.plain), self.name, HEADS, WIDTH, opt_level=0,
                                        optimization_options=options)
        if half:
            made.convert_float_to_float16(keep_io_types=True)
        made.save_model_to_file(str(self.path(kind)))
        return self.path(kind)

    def dynamic(self, kind, source, **settings):
        # Shape inference does not know what fused operators give.
        types = {"DefaultTensorType": onnx.TensorProto.FLOAT}
        quantization.quantize_dynamic(str(source), str(self.path(kind)), weight_type=quantization.QuantType.QInt8,
                                      extra_options=types, **settings)
        return self.path(kind)

    def static(self, kind, form, **settings):
        quantization.quantize_static(str(self.plain), str(self.path(kind)), Calibration(self.inputs),
                                     quant_format=form, **settings)
        return self.path(kind)

    def of_bits(self, kind):
        quantizer = MatMulNBitsQuantizer(onnx.load(self.plain), block_size=16, is_symmetric=False)
        quantizer.process()
        quantizer.model.save_model_to_file(str(self.path(kind)))
        return self.path(kind)

    def as_run(self, kind, source):
        """As ONNX Runtime rewrites the file for itself."""
        session(source, ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED, self.path(kind))
        return self.path(kind)

    def all(self):
        per_channel = {"per_channel": True}
        fused = self.fused("fused")
        dynamic = self.dynamic("dynamic", self.plain)
        made = {
            "fused": (fused, EXACT),
            "fused_heads": (self.fused("fused_heads", use_multi_head_attention=True), EXACT),
            "fused_half": (self.fused("fused_half", half=True), HALF),
            "fused_dynamic": (self.dynamic("fused_dynamic", fused), QUANTISED),
            "dynamic": (dynamic, QUANTISED),
            "dynamic_channels": (self.dynamic("dynamic_channels", self.plain, **per_channel), QUANTISED),
            "dynamic_as_run": (self.as_run("dynamic_as_run", dynamic), QUANTISED),
            "static_pairs": (self.static("static_pairs", quantization.QuantFormat.QDQ), QUANTISED),
            "static_pairs_channels": (
                self.static("static_pairs_channels", quantization.QuantFormat.QDQ, **per_channel), QUANTISED),
            "static_operators": (self.static("static_operators", quantization.QuantFormat.QOperator), QUANTISED),
            "bits": (self.of_bits("bits"), EXACT),
            "as_run": (self.as_run("as_run", self.plain), EXACT),
        }
        return {"plain": (self.plain, EXACT), **made}


def write_golden(path, source, inputs, tolerance, folder):
    model = onnx.load(source)
    # Only all optimisations make products of bytes exact; they fail on statically quantised files, which
    # are exact without them.
    level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    if "static" in path:
        level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    found = dict(zip([output.name for output in model.graph.output], session(source, level).run(None, inputs)))
    extra = {f"given.{name}": value for name, value in inputs.items()}
    extra |= {f"expected.{name}": value for name, value in found.items()}
    extra |= {"tolerance": np.array(tolerance), "sites": np.array([LAYERS, 0, 0])}
    for name, value in extra.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    model.ClearField("metadata_props")
    for node in model.graph.node:
        node.ClearField("doc_string")
    del model.graph.value_info[:]
    onnx.save(model, folder / f"{path}.onnx")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--all", action="store_true", help="also what is too alike or too large to keep")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    for name, make in (("bert", bert), ("vit", vit)):
        torch.manual_seed(0)
        model, inputs = make()
        with torch.no_grad():  # what is 0 or 1 at first would hide where it is applied
            for key, parameter in model.named_parameters():
                if parameter.ndim == 1:
                    parameter += 0.3 * torch.randn_like(parameter)
        given = {key: value.numpy() for key, value in inputs.items()}
        with tempfile.TemporaryDirectory() as scratch:
            plain = pathlib.Path(scratch) / f"{name}.onnx"
            export(model, inputs, plain)
            for kind, (source, tolerance) in Variants(name, plain, given, pathlib.Path(scratch)).all().items():
                if arguments.all or f"{name}_{kind}" in KEPT:
                    write_golden(f"{name}_{kind}", source, given, tolerance, folder)


if __name__ == "__main__":
    main()

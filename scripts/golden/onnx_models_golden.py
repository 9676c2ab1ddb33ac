#!/usr/bin/env python3
"""Writes tests/golden/onnx/models: small transformers as exporters write them, what ONNX Runtime
computes with them and what PyTorch's gradients are.

Made with Python 3.11, torch 2.15.0, transformers 5.22.2, onnx 1.23.2, onnxscript 0.7.2,
onnxruntime 1.31.1, numpy 2.4.6:

    pip install torch==2.15.0 transformers==5.22.2 onnx==1.23.2 onnxscript==0.7.2 \\
        onnxruntime==1.31.1 numpy==2.4.6
    python scripts/golden/onnx_models_golden.py                      # the files of the repository
    python scripts/golden/onnx_models_golden.py --all --folder /tmp/models   # every variant

A file's name tells the model, its attention (eager, sdpa), the exporter (legacy: TorchScript; new:
torch.export) and the opset. Beside its weights it holds, as initialisers:
`given.<input>`; `expected.output` of ONNX Runtime, or of PyTorch where ONNX Runtime refuses the file;
`gradient.<value>`: PyTorch's gradient of Σ output · `seed.output`; and `sites`: heads, queries, keys, is
self-attention of each layer.
"""

import argparse
import pathlib
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnx import numpy_helper

from onnx_other_models import OTHER_MODELS
from onnx_text_models import TEXT_MODELS

MODELS = {**TEXT_MODELS, **OTHER_MODELS}
FOLDER = pathlib.Path(__file__).parents[2] / "tests/golden/onnx/models"
VARIANTS = [(attention, exporter, opset) for attention in ("eager", "sdpa")
            for exporter, opset in (("legacy", 11), ("legacy", 14), ("legacy", 17),
                                    ("new", 18), ("new", 20), ("new", 23))]
# The files of the repository: every model, every exporter, attention and opset at least once.
CHOSEN = """
bert.eager.legacy.11 bert.sdpa.legacy.14 bert.eager.new.18 bert.sdpa.new.23
sentence-vectors.eager.legacy.11 sentence-vectors.sdpa.new.20
distilbert.sdpa.new.20 roberta.eager.legacy.17 albert.eager.legacy.17 electra.sdpa.legacy.17
mpnet.eager.legacy.14 deberta.eager.legacy.11 deberta-v2.eager.new.18
modernbert.sdpa.legacy.14 modernbert.sdpa.new.23 xlnet.eager.legacy.17
gpt2.eager.legacy.17 gpt2.sdpa.new.20 llama.eager.new.18 llama.sdpa.new.23 qwen3.sdpa.new.20
t5.eager.new.18 t5.sdpa.new.20 t5-gated.eager.new.20 bart.sdpa.new.20 marian.eager.new.18
whisper.eager.new.20 whisper.sdpa.new.18
vit.eager.legacy.17 vit.sdpa.new.23 deit.eager.legacy.11 beit.eager.new.18 dinov2.sdpa.legacy.14
swin.eager.new.18 clip.eager.new.18 clip-text.sdpa.legacy.14 clip-vision.sdpa.new.20
detr.eager.new.18 detr.sdpa.new.23 nn-transformer.eager.new.20 lxmert.eager.new.20 visual-bert.eager.legacy.17
ft-transformer.sdpa.legacy.14 ft-transformer-einsum.eager.new.18 ft-transformer-flat.eager.legacy.14
tab-transformer.eager.new.23
""".split()


class OneOutput(torch.nn.Module):
    def __init__(self, small):
        super().__init__()
        self.model, self.names, self.output = small.model, list(small.inputs), small.output

    def forward(self, *args):
        if len(self.names) == 1 or not hasattr(self.model, "config"):
            return self.output(self.model(*args))
        return self.output(self.model(**dict(zip(self.names, args))))


def dynamic_axes(small, name):
    """Batch, and tokens of whole numbers."""
    axes = {} if small.fixed_batch else {0: "batch"}
    if name.endswith("_ids") or name == "attention_mask":
        axes[1] = {"decoder": "targets", "visual": "regions"}.get(name.split("_")[0], "tokens")
    return axes


def export(small, path, exporter, opset):
    module = OneOutput(small).eval()
    names, values = list(small.inputs), tuple(small.inputs.values())
    common = dict(input_names=names, output_names=["output"], opset_version=opset)
    if exporter == "legacy":
        axes = {name: dynamic_axes(small, name) for name in names}
        torch.onnx.export(module, values, path, dynamic_axes=axes, dynamo=False, **common)
        return
    axes = tuple({axis: torch.export.Dim.DYNAMIC for axis in dynamic_axes(small, name)} for name in names)
    common |= dict(dynamo=True, external_data=False, verbose=False)
    with torch.no_grad():
        try:
            torch.onnx.export(module, values, path, dynamic_shapes=(axes,), **common)
        except torch.onnx.errors.OnnxExporterError:  # code that asks for lengths: sizes as numbers
            torch.onnx.export(module, values, path, **common)


def torch_gradient(small, seed):
    """Of Σ seed · output, with respect to the first embedding's output or the first float input; in
    double precision, as a ReLU next to zero is enough to spoil it."""
    module = OneOutput(small).eval().double()
    inputs = {key: value.double() if value.is_floating_point() else value
              for key, value in small.inputs.items()}
    found = []

    def record(_module, _inputs, output):
        if not found:
            found.append(output.detach().clone().requires_grad_())
            return found[0]

    if small.embedding is None:
        name = next(key for key, value in inputs.items() if value.is_floating_point())
        found.append(inputs[name].requires_grad_())
    else:
        hook = small.embedding.register_forward_hook(record)
    (module(*inputs.values()) * torch.from_numpy(seed)).sum().backward()
    if small.embedding is not None:
        hook.remove()
    module.float()
    return found[0].grad.float().numpy()


def place_of(model, small):
    """Name of the file's value where the gradient was taken."""
    if small.embedding is None:
        return next(key for key, given in small.inputs.items() if given.is_floating_point())
    tables = {}
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.shape == tuple(small.embedding.weight.shape):
            tables[tensor.name] = np.array_equal(array, small.embedding.weight.detach().numpy())
    for node in model.graph.node:
        if node.op_type == "Identity":
            tables[node.output[0]] = tables.get(node.input[0], False)
        if node.op_type == "Gather" and tables.get(node.input[0], False):
            return node.output[0]
    raise RuntimeError("no Gather gives the embeddings")


def run(model, fed):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options)
    read = {info.name for info in session.get_inputs()}
    return session.run(None, {key: value for key, value in fed.items() if key in read})


def without_notes(model):
    """Exporters note source lines with machine paths, and shapes nobody needs."""
    del model.graph.value_info[:]
    del model.metadata_props[:]
    graphs = [model.graph] + list(model.functions)
    while graphs:
        graph = graphs.pop()
        graph.doc_string = ""
        del graph.metadata_props[:]
        for node in graph.node:
            node.doc_string = ""
            del node.metadata_props[:]
            graphs += [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    for value in list(model.graph.input) + list(model.graph.output) + list(model.graph.initializer):
        value.doc_string = ""
        del value.metadata_props[:]


def write(folder, name, attention, exporter, opset):
    torch.manual_seed(0)
    small = MODELS[name](attention)
    small.model.eval()
    if small.only_eager and attention != "eager":
        return "not made"
    with torch.no_grad():  # random weights are too small to tell anything from nothing
        for parameter in small.model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3)
            else:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    path = folder / f"{name}.{attention}.{exporter}.{opset}.onnx"
    with tempfile.NamedTemporaryFile(suffix=".onnx") as exported:
        export(small, exported.name, exporter, opset)
        model = onnx.load(exported.name)
    without_notes(model)
    fed = {key: value.numpy() for key, value in small.inputs.items()}
    try:
        output, = run(model, fed)
        note = ""
    except Exception as error:
        output = OneOutput(small).eval()(*small.inputs.values()).detach().numpy()
        note = f"refused by ONNX Runtime: {str(error)[:80]}"
    seed = np.random.default_rng(0).standard_normal(output.shape).astype(np.float32)
    gradient = torch_gradient(small, seed)
    stored = {f"given.{info.name}": fed[info.name] for info in model.graph.input}
    stored |= {"expected.output": output, "seed.output": seed, "sites": np.array(small.sites),
               f"gradient.{place_of(model, small)}": gradient}
    for key, array in stored.items():
        model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), key))
    onnx.save(model, path)
    expected = OneOutput(small).eval()(*small.inputs.values()).detach().numpy()
    worst = np.abs(output - expected).max() / max(1, np.abs(expected).max())
    return f"{path.stat().st_size / 1000:.0f} KB, {worst:.1e} from PyTorch {note}"


def main():
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--only", nargs="*", help="models")
    parser.add_argument("--variants", nargs="*", help="as in eager.legacy.17")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, attention, exporter, opset in [(name, *variant) for name in MODELS for variant in VARIANTS]:
        variant = f"{attention}.{exporter}.{opset}"
        if not options.all and f"{name}.{variant}" not in CHOSEN:
            continue
        if options.only and name not in options.only:
            continue
        if options.variants and variant not in options.variants:
            continue
        try:
            result = write(options.folder, name, attention, exporter, opset)
        except Exception as error:
            result = f"FAILED: {type(error).__name__}: {str(error)[:200]!r}"
        print(f"{name} {attention} {exporter} {opset}: {result}", flush=True)


if __name__ == "__main__":
    main()

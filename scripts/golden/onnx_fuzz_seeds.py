#!/usr/bin/env python3
"""Writes fuzz/corpus/onnx: small models from which fuzz_onnx starts.

Made with Python 3.11, onnx 1.23.2, numpy 2.4.6:

    pip install onnx==1.23.2 numpy==2.4.6
    python scripts/golden/onnx_fuzz_seeds.py

tests/golden/onnx has one operator per file; these have what only shows between operators: arithmetic on
shapes, attention written out, branches, functions, and tensors of every element type.
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parents[2] / "fuzz/corpus/onnx"
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
random = np.random.default_rng(0)
node = helper.make_node


def write(name, nodes, inputs, outputs, constants, functions=()):
    """Inputs as (name, type, shape); types of outputs and constants by name."""
    graph = helper.make_graph(
        nodes, name,
        [helper.make_tensor_value_info(key, element, shape) for key, element, shape in inputs],
        [helper.make_tensor_value_info(key, element, None) for key, element in outputs.items()],
        [value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value), key)
         for key, value in constants.items()])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1),
              helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="seeds",
                              functions=list(functions))
    (FOLDER / name).write_bytes(model.SerializeToString())


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def integers(*values):
    return np.array(values, dtype=np.int64)


def attention():
    """One layer as exporters write it: heads split, masked, scaled, merged; residual and norm."""
    nodes = [
        node("Gather", ["table", "ids"], ["x"]),
        node("MatMul", ["x", "w"], ["xw"]),
        node("Add", ["b", "xw"], ["qkv"]),
        node("Shape", ["x"], ["shape"]),
        node("Slice", ["shape", "zero", "two"], ["front"]),
        node("Concat", ["front", "heads"], ["split"], axis=0),
        node("Split", ["qkv"], ["q0", "k0", "v0"], axis=2),
    ]
    for part, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes += [node("Reshape", [part + "0", "split"], [part + "1"]),
                  node("Transpose", [part + "1"], [part], perm=order)]
    nodes += [
        node("MatMul", ["q", "k"], ["scores"]),
        node("Div", ["scores", "root"], ["scaled"]),
        node("Unsqueeze", ["mask", "axes"], ["mask4"]),
        node("Cast", ["mask4"], ["kept"], to=FLOAT),
        node("Sub", ["one", "kept"], ["hidden"]),
        node("Mul", ["hidden", "low"], ["bias"]),
        node("Add", ["scaled", "bias"], ["masked"]),
        node("Softmax", ["masked"], ["map"], axis=-1),
        node("MatMul", ["map", "v"], ["context"]),
        node("Transpose", ["context"], ["merged"], perm=[0, 2, 1, 3]),
        node("Reshape", ["merged", "flat"], ["rows"]),
        node("Add", ["x", "rows"], ["sum"]),
        node("LayerNormalization", ["sum", "gamma", "beta"], ["y"], axis=-1),
        node("ReduceMean", ["y"], ["mean"], axes=[1], keepdims=0),
        node("Gemm", ["mean", "head"], ["logits"], transB=1),
    ]
    write("attention", nodes, [("ids", INT64, ["batch", "tokens"]), ("mask", INT64, ["batch", "tokens"])],
          dict(logits=FLOAT),
          dict(table=floats(5, 4), w=floats(4, 12), b=floats(12), zero=integers(0), two=integers(2),
               heads=integers(2, 2), root=np.float32(1.4), axes=integers(1, 2), one=np.float32(1),
               low=np.float32(-3e38), flat=integers(0, 0, -1), gamma=floats(4), beta=floats(4),
               head=floats(3, 4)))


def shapes():
    """Arithmetic that decides shapes, with the operators that pick, place, cut and repeat."""
    write("shapes", [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "index"], ["length"], axis=0),
        node("Range", ["start", "length", "step"], ["positions"]),
        node("Cast", ["positions"], ["as_floats"], to=FLOAT),
        node("Div", ["length", "step"], ["half"]),
        node("ConstantOfShape", ["shape"], ["zeros"]),
        node("Expand", ["as_floats", "shape"], ["rows"]),
        node("Add", ["rows", "zeros"], ["sum"]),
        node("Slice", ["sum", "from", "to", "along", "by"], ["cut"]),
        node("Pad", ["cut", "pads", "fill"], ["padded"], mode="constant"),
        node("Tile", ["padded", "repeats"], ["tiled"]),
        node("TopK", ["tiled", "k"], ["best", "where"], axis=-1),
        node("GatherElements", ["tiled", "where"], ["picked"], axis=1),
        node("ScatterND", ["picked", "places", "updates"], ["placed"]),
        node("CumSum", ["placed", "axis"], ["summed"]),
        node("Trilu", ["summed"], ["triangle"], upper=0),
        node("Where", ["choice", "triangle", "summed"], ["chosen"]),
        node("Squeeze", ["chosen"], ["y"]),
        node("OneHot", ["positions", "depth", "values"], ["hot"], axis=-1),
        node("Einsum", ["x", "x"], ["products"], equation="...i,...j->...ij"),
        node("NonZero", ["start_list"], ["found"]),
    ], [("x", FLOAT, ["batch", 4])], dict(y=FLOAT, hot=FLOAT, products=FLOAT, found=INT64),
          dict(index=np.int64(1), start=np.int64(0), step=np.int64(1),
               **{"from": integers(-1), "to": integers(-2**63), "along": integers(1), "by": integers(-1)},
               pads=integers(0, 1, 0, 1), fill=np.float32(0.5), repeats=integers(1, 2), k=integers(3),
               places=integers(0, 0).reshape(1, 2), updates=floats(1), axis=np.int64(1),
               choice=np.array([True, False, True]), depth=integers(4), values=floats(2),
               start_list=integers(1, 0, 2)))


def branches_and_functions():
    """If on an input and on a constant, names from outside, functions that call functions."""
    def branch(name, kind, other):
        return helper.make_graph([node(kind, ["x", other], ["z"])], name, [],
                                 [helper.make_tensor_value_info("z", FLOAT, None)])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    factor = node("Constant", [], ["f"])
    reference = factor.attribute.add()
    reference.name, reference.ref_attr_name = "value_float", "factor"
    reference.type = onnx.AttributeProto.FLOAT
    inner = node("scale", ["clipped"], ["y"], domain="local")
    reference = inner.attribute.add()
    reference.name, reference.ref_attr_name = "factor", "factor"
    reference.type = onnx.AttributeProto.FLOAT
    functions = [
        helper.make_function("local", "scale", ["x"], ["y"], [factor, node("Mul", ["x", "f"], ["y"])],
                             opsets, attributes=["factor"]),
        helper.make_function("local", "both", ["x", "least"], ["y"],
                             [node("Clip", ["x", "least"], ["clipped"]), inner], opsets,
                             attributes=["factor"]),
    ]
    write("branches", [
        node("If", ["flag"], ["a"], then_branch=branch("yes", "Add", "w"),
             else_branch=branch("no", "Sub", "w")),
        node("If", ["known"], ["b"], then_branch=branch("yes", "Mul", "a"),
             else_branch=branch("no", "Div", "a")),
        node("both", ["b", ""], ["c"], domain="local", factor=2.0),
        node("both", ["c", "zero"], ["y"], domain="local", factor=0.5),
    ], [("x", FLOAT, [2, "n"]), ("flag", BOOL, [])], dict(y=FLOAT),
          dict(w=floats(1), known=np.array(True), zero=np.float32(0)), functions=functions)


def picture():
    """Patches as tokens, pooled."""
    write("picture", [
        node("Conv", ["pixels", "kernel", "bias"], ["patches"], strides=[2, 2], kernel_shape=[2, 2]),
        node("BatchNormalization", ["patches", "scale", "bias", "mean", "variance"], ["normed"]),
        node("MaxPool", ["normed"], ["pooled"], kernel_shape=[2, 2], pads=[0, 0, 1, 1]),
        node("Resize", ["pooled", "", "scales"], ["large"], mode="linear"),
        node("ConvTranspose", ["large", "back"], ["grid"], strides=[2, 2], output_padding=[1, 1]),
        node("Reshape", ["grid", "rows"], ["flat"]),
        node("Transpose", ["flat"], ["tokens"], perm=[0, 2, 1]),
        node("ReduceMax", ["tokens"], ["y"], axes=[1], keepdims=0),
        node("GlobalAveragePool", ["large"], ["z"]),
    ], [("pixels", FLOAT, ["batch", 3, 4, 4])], dict(y=FLOAT, z=FLOAT),
          dict(kernel=floats(4, 3, 2, 2), bias=floats(4), scale=floats(4), mean=floats(4),
               variance=np.abs(floats(4)), scales=np.array([1, 1, 2, 2], np.float32),
               back=floats(4, 2, 3, 3), rows=integers(0, 0, -1)))


def quantised():
    """A dynamically quantised Linear."""
    write("quantised", [
        node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        node("MatMulInteger", ["q", "w", "z", "wz"], ["whole"]),
        node("Cast", ["whole"], ["floats"], to=FLOAT),
        node("Mul", ["s", "ws"], ["factor"]),
        node("Mul", ["floats", "factor"], ["scaled"]),
        node("QuantizeLinear", ["scaled", "ws", "wz"], ["small"]),
        node("DequantizeLinear", ["small", "ws", "wz"], ["y"]),
    ], [("x", FLOAT, ["batch", 4])], dict(y=FLOAT),
          dict(w=random.integers(-128, 128, (4, 3)).astype(np.int8), wz=np.int8(3), ws=np.float32(0.02)))


def types():
    """A tensor of every element type, each cast to floats and added up."""
    constants, nodes, sums = {}, [], []
    names = ["FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "UINT8", "INT8", "UINT16", "INT16", "UINT32",
             "INT32", "UINT64", "INT64", "BOOL", "UINT4", "INT4"]
    for name in names:
        key = name.lower()
        constants[key] = helper.make_tensor(key, getattr(TensorProto, name), [3], [1, 0, 1])
        nodes.append(node("Cast", [key], [key + ".float"], to=FLOAT))
        sums.append(key + ".float")
    nodes.append(node("Sum", sums, ["sum"]))
    nodes.append(node("Add", ["sum", "x"], ["y"]))
    write("types", nodes, [("x", FLOAT, [3])], dict(y=FLOAT), constants)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for make in (attention, shapes, branches_and_functions, picture, quantised, types):
        make()

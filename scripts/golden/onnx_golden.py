#!/usr/bin/env python3
"""Writes tests/golden/onnx: one-operator models and what ONNX Runtime computes with them.

Made with Python 3.11, onnx 1.23.2, onnxruntime 1.31.1, numpy 2.4.6:

    pip install onnx==1.23.2 onnxruntime==1.31.1 numpy==2.4.6
    python scripts/golden/onnx_golden.py

ONNX's own test cases cover most operators; these are for those of com.microsoft and for options that
they leave out. Each file is a model; its initialisers `given.<input>` and `expected.<output>` hold
what it was given and what came out. Integer products are exact (session.x64quantprecision).
"""

import pathlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parents[2] / "tests/golden/onnx"
MICROSOFT = "com.microsoft"
random = np.random.default_rng(0)


def write_case(name, kind, inputs, fed, outputs, domain="", onnx_opset=19, **attributes):
    """`inputs` in order: names of `fed` values, arrays (initialisers) or None; outputs: their types."""
    names, initialisers = [], []
    for index, value in enumerate(inputs):
        if isinstance(value, np.ndarray):
            names.append(f"constant{index}")
            initialisers.append(numpy_helper.from_array(value, names[-1]))
        else:
            names.append(value or "")
    made = [f"y{index}" for index in range(len(outputs))]
    graph = helper.make_graph(
        [helper.make_node(kind, names, made, name=kind, domain=domain, **attributes)],
        name,
        [helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
         for key, value in fed.items()],
        [helper.make_tensor_value_info(key, element, None) for key, element in zip(made, outputs)],
        initialisers)
    opsets = [helper.make_opsetid("", onnx_opset), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="golden")
    options = ort.SessionOptions()
    options.log_severity_level = 3
    # Signed inputs are exact anyway, and would lack kernels for the weights it makes unsigned.
    if not any(value.dtype == np.int8 for value in fed.values()):
        options.add_session_config_entry("session.x64quantprecision", "1")
    found = ort.InferenceSession(model.SerializeToString(), options).run(None, fed)
    for prefix, values in (("given.", fed), ("expected.", dict(zip(made, found)))):
        for key, value in values.items():
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), prefix + key))
    onnx.save(model, FOLDER / f"{name}.onnx")


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def unsigned(*shape):
    return random.integers(0, 256, shape).astype(np.uint8)


def signed(*shape):
    return random.integers(-128, 128, shape).astype(np.int8)


def scale(number):
    return np.array(number, np.float32)


def quantised_cases(name, numbers, zero, kind):
    a, b = (scale(0.02), zero(3)), (scale(0.03), zero(7))
    y = (scale(0.0537), zero(11))
    unit = (scale(1 / 256), zero(np.iinfo(zero(0).dtype).min))

    def case(operator, inputs, fed, outputs=(kind,), domain=MICROSOFT, suffix="", **attributes):
        write_case(f"{operator}{suffix}_{name}", operator, inputs, fed, outputs, domain, **attributes)

    pair = {"a": numbers(2, 3, 8), "b": numbers(3, 8)}
    case("QLinearAdd", ["a", *a, "b", *b, *y], pair)
    case("QLinearMul", ["a", *a, "b", *b, *y], pair)
    case("QLinearConcat", [*y, "a", *a, "b", *b], {"a": numbers(2, 3, 8), "b": numbers(2, 1, 8)}, axis=1)
    case("QLinearSigmoid", ["a", *a, *unit], {"a": numbers(2, 30)})
    case("QLinearLeakyRelu", ["a", *a, *y], {"a": numbers(2, 30)}, alpha=0.1)
    case("QLinearSoftmax", ["a", *a, *unit], {"a": numbers(2, 3, 16)}, axis=-1, opset=13)
    window = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    case("QLinearAveragePool", ["a", *a, scale(0.0213), zero(11)], {"a": numbers(1, 3, 9, 9)}, **window)
    case("QLinearAveragePool", ["a", *a, scale(0.0213), zero(11)], {"a": numbers(1, 9, 8, 3)},
         suffix="_channels_last", channels_last=1, **window)
    case("QLinearGlobalAveragePool", ["a", *a, scale(0.0213), zero(11)], {"a": numbers(2, 5, 6, 7)})
    addend = random.integers(-9000, 9000, 6).astype(np.int32)
    weight = numbers(6, 70)
    case("QGemm", ["a", *a, weight, *b, addend, scale(2.01), zero(11)], {"a": numbers(5, 70)},
         transB=1, alpha=0.5)
    case("QGemm", ["a", *a, weight, *b, addend], {"a": numbers(5, 70)}, (TensorProto.FLOAT,),
         suffix="_to_float", transB=1, alpha=0.5)
    case("QLinearMatMul", ["a", *a, numbers(700, 6), *b, scale(10.1), zero(11)],
         {"a": numbers(2, 5, 700)}, domain="")
    addend = random.integers(-9000, 9000, 4).astype(np.int32)
    case("QLinearConv",
         ["a", *a, signed(4, 20, 3, 3), scale([0.01, 0.02, 0.03, 0.04]), np.zeros(4, np.int8),
          scale(3.01), zero(11), addend],
         {"a": numbers(1, 40, 4, 4)}, domain="", pads=[1, 1, 1, 1], group=2)
    case("MatMulIntegerToFloat",
         ["a", signed(300, 6), a[0], floats(6) ** 2, a[1], np.arange(6, dtype=np.int8), floats(6)],
         {"a": numbers(2, 5, 300)}, (TensorProto.FLOAT,))
    case("DynamicQuantizeMatMul",
         ["a", numbers(300, 6), floats(6) ** 2, zero([1, 2, 3, 4, 5, 6]), floats(6)],
         {"a": floats(2, 5, 300)}, (TensorProto.FLOAT,))


def packed(numbers, bits):
    if bits == 8:
        return numbers
    return numbers[..., 0::2] | numbers[..., 1::2] << 4


def bits_cases():
    depth, columns, block = 100, 6, 32
    blocks = -(-depth // block)
    for bits, zeros in ((4, "default"), (4, "packed"), (4, "float"), (8, "default"), (8, "packed")):
        weight = packed(random.integers(0, 2**bits, (columns, blocks, block)).astype(np.uint8), bits)
        inputs = ["a", weight, floats(columns, blocks) ** 2]
        if zeros == "packed":
            inputs.append(packed(random.integers(0, 2**bits, (columns, blocks)).astype(np.uint8), bits))
        if zeros == "float":
            inputs.append(random.integers(0, 2**bits, (columns, blocks)).astype(np.float32))
        write_case(f"MatMulNBits_{bits}_{zeros}", "MatMulNBits", inputs, {"a": floats(2, 3, depth)},
                   (TensorProto.FLOAT,), MICROSOFT, K=depth, N=columns, bits=bits, block_size=block)


def attention_cases():
    width = 16
    write_case("QAttention_lengths", "QAttention",
               ["x", signed(12, 3 * width), floats(3 * width), scale(0.02), scale(0.01), "lengths",
                np.array(128, np.uint8), np.array(2, np.int8)],
               {"x": unsigned(2, 5, 12), "lengths": np.array([5, 3], np.int32)},
               (TensorProto.FLOAT,), MICROSOFT, num_heads=4)
    write_case("QAttention_causal", "QAttention",
               ["x", signed(12, 3 * width), floats(3 * width), scale(0.02),
                floats(3 * width) ** 2 * np.float32(0.01), None, np.array(128, np.uint8),
                np.zeros(3 * width, np.int8)],
               {"x": unsigned(2, 5, 12)}, (TensorProto.FLOAT,), MICROSOFT, num_heads=4,
               unidirectional=1)
    tables = [unsigned(20, 8), unsigned(16, 8), unsigned(2, 8), unsigned(8), unsigned(8)]
    scales = [scale(0.01 * (index + 1)) for index in range(5)]
    zeros = [np.array(100 + index, np.uint8) for index in range(5)]
    write_case("QEmbedLayerNormalization", "QEmbedLayerNormalization",
               ["ids", "segments", *tables, "mask", *scales, *zeros],
               {"ids": random.integers(0, 20, (2, 5)).astype(np.int32),
                "segments": random.integers(0, 2, (2, 5)).astype(np.int32),
                "mask": np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int32)},
               (TensorProto.FLOAT, TensorProto.INT32), MICROSOFT)


def picture_cases():
    result = (TensorProto.FLOAT,)
    write_case("FusedConv_sum", "FusedConv", ["x", floats(4, 3, 3, 3), floats(4), "z"],
               {"x": floats(1, 3, 5, 5), "z": floats(1, 4, 5, 5)}, result, MICROSOFT,
               activation="Relu", pads=[1, 1, 1, 1])
    write_case("FusedConv_leaky", "FusedConv", ["x", floats(4, 3, 3, 3), floats(4)],
               {"x": floats(1, 3, 5, 5)}, result, MICROSOFT, activation="LeakyRelu",
               activation_params=[0.3])
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            write_case(f"GridSample_{mode}_{padding}", "GridSample", ["x", "grid"],
                       {"x": floats(2, 3, 5, 6), "grid": floats(2, 7, 8, 2)}, result, onnx_opset=16,
                       mode=mode, padding_mode=padding)
    for mode in ("linear", "cubic"):
        for coordinates in ("half_pixel_symmetric", "pytorch_half_pixel", "align_corners"):
            write_case(f"Resize_{mode}_{coordinates}", "Resize", ["x", None, scale([1, 1, 0.6, 2.3])],
                       {"x": floats(1, 2, 7, 8)}, result, mode=mode, antialias=1,
                       coordinate_transformation_mode=coordinates)
    for mode, factors in (("nearest", [1, 1, 0.6, 0.5]), ("nearest", [1, 1, 2.6, 2]),
                          ("linear", [1, 1, 2.6, 2])):
        write_case(f"Resize_of_opset_10_{mode}_{factors[3]}", "Resize", ["x", scale(factors)],
                   {"x": floats(1, 2, 7, 8)}, result, onnx_opset=10, mode=mode)
    for counted in (0, 1):
        write_case(f"AveragePool_ceil_{counted}", "AveragePool", ["x"], {"x": floats(1, 2, 8, 9)},
                   result, kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 1, 1], ceil_mode=1,
                   count_include_pad=counted)
    for pads in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        write_case(f"Conv_{pads}", "Conv", ["x", floats(3, 2, 3, 2)], {"x": floats(1, 2, 8, 9)}, result,
                   auto_pad=pads, strides=[2, 3])
        write_case(f"ConvTranspose_{pads}", "ConvTranspose", ["x", floats(4, 3, 3, 4)],
                   {"x": floats(1, 4, 4, 5)}, result, auto_pad=pads, strides=[2, 3], group=2)
    write_case("GroupNormalization_of_opset_21", "GroupNormalization", ["x", floats(4), floats(4)],
               {"x": floats(2, 4, 4, 5)}, result, onnx_opset=21, num_groups=2)
    write_case("DequantizeLinear_blocks", "DequantizeLinear",
               ["x", floats(2, 3, 3), unsigned(2, 3, 3)], {"x": unsigned(2, 8, 3)}, result, onnx_opset=21,
               axis=1, block_size=3)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.onnx"):
        old.unlink()
    quantised_cases("uint8", unsigned, lambda number: np.array(number, np.uint8), TensorProto.UINT8)
    quantised_cases("int8", signed, lambda number: np.array(number, np.int8), TensorProto.INT8)
    bits_cases()
    attention_cases()
    picture_cases()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes the weight files which the tests read, and what is in them as expected.json.

Made with Python 3.11.7, torch 2.15.0 and safetensors 0.8.0
(pip install torch==2.15.0 safetensors==0.8.0).
The same versions write the same bytes.

    python scripts/golden/weights_golden.py tests/golden/weights
"""

import io
import json
import math
import pickle
import struct
import sys
import zipfile
from pathlib import Path

import torch
from safetensors.torch import save_file

# 1/3 rounds differently in every type; 6e-8 is subnormal in float16.
NUMBERS = [0.0, -0.0, 1.0, -2.5, 1 / 3, 6e-8, 65504.0, float("inf"), float("-inf")]


def typed_tensors():
    numbers = torch.tensor(NUMBERS, dtype=torch.float64)
    return {
        "f64": numbers.clone(),
        "f32": numbers.to(torch.float32).reshape(3, 3),
        "f16": numbers.to(torch.float16).reshape(9, 1),
        "bf16": numbers.to(torch.bfloat16),
        "i64": torch.tensor([[1, -2], [3, 2**40]]),
        "i32": torch.tensor([7, -7], dtype=torch.int32),
        "i16": torch.tensor([-300], dtype=torch.int16),
        "i8": torch.tensor([-3, 5], dtype=torch.int8),
        "u8": torch.tensor([[0, 255]], dtype=torch.uint8),
        "bool": torch.tensor([True, False, True]),
        "scalar": torch.tensor(2.25),
        "empty": torch.zeros(0, 4),
    }


def strided_tensors():
    grid = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    cube = torch.arange(24, dtype=torch.float16).reshape(2, 3, 4)
    return {
        "whole": grid,
        "transposed": grid.t(),
        "columns": grid[:, 1:4],
        "offset": grid[2:],
        "every_other": grid[::2, ::3],
        "tied": grid,
        "permuted": cube.permute(2, 0, 1),
        "expanded": torch.tensor([[1.0], [2.0]]).expand(2, 3),
        "parameter": torch.nn.Parameter(torch.tensor([[1.5, -1.5]])),
    }


def with_attribute(tensor):
    tensor.note = "kept as a Python attribute"
    return tensor


def value(number):
    if isinstance(number, (bool, int)) or math.isfinite(number):
        return number
    return str(number)


def described(tensors):
    names = {torch.float64: "F64", torch.float32: "F32",
             torch.float16: "F16", torch.bfloat16: "BF16",
             torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
             torch.uint64: "U64", torch.uint32: "U32", torch.uint16: "U16",
             torch.uint8: "U8", torch.bool: "BOOL"}
    return {
        name: {"type": names[tensor.dtype], "shape": list(tensor.shape),
               "values": [value(number) for number in tensor.detach().flatten().tolist()]}
        for name, tensor in tensors.items()
    }


class StorageKeys(pickle.Unpickler):
    """Reads the object of a legacy file and notes the storages, by key, in order of appearance."""

    def __init__(self, file):
        super().__init__(file)
        self.widths = {}

    def find_class(self, module, name):
        if name.endswith("Storage"):
            return torch.storage._get_dtype_from_pickle_storage_type(name).itemsize
        return dict if name == "OrderedDict" else lambda *arguments: None

    def persistent_load(self, saved_id):
        _, width, key, *_ = saved_id
        self.widths.setdefault(key, width)


def with_steady_keys(legacy):
    """torch.save names legacy storages by their addresses; numbers them instead, in order."""
    file = io.BytesIO(legacy)
    for _ in range(3):  # magic number, version, system
        pickle.load(file)
    begin = file.tell()
    reader = StorageKeys(file)
    reader.load()
    head, body = legacy[:begin], legacy[begin:file.tell()]
    data = {}
    for key in pickle.load(file):
        count = file.read(8)
        data[key] = count + file.read(struct.unpack("<q", count)[0] * reader.widths[key])
    new_names = {key: f"storage{i}" for i, key in enumerate(reader.widths)}
    for key, name in new_names.items():
        old = b"X" + struct.pack("<I", len(key)) + key.encode()
        assert body.count(old) >= 1
        body = body.replace(old, b"X" + struct.pack("<I", len(name)) + name.encode())
    return (head + body + pickle.dumps(list(new_names.values()), protocol=2)
            + b"".join(data[key] for key in new_names))


def save_legacy(tensors, path):
    file = io.BytesIO()
    torch.save(tensors, file, _use_new_zipfile_serialization=False)
    path.write_bytes(with_steady_keys(file.getvalue()))
    loaded = torch.load(path, weights_only=True)
    for name, tensor in tensors.items():
        assert torch.equal(loaded[name], tensor), name


def save_deflated(stored, path):
    with zipfile.ZipFile(stored) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            target.writestr(entry, source.read(name), zipfile.ZIP_DEFLATED)


def save_as_zip(program, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("archive/data.pkl", (1980, 1, 1, 0, 0, 0)), program)


def save_shards(folder, tensors, prefix, suffix, save):
    folder.mkdir(exist_ok=True)
    names = sorted(tensors)
    parts = [names[0::2], names[1::2]]
    weight_map = {}
    for i, part in enumerate(parts):
        shard = f"{prefix}-{i + 1:05}-of-00002.{suffix}"
        save({name: tensors[name] for name in part}, folder / shard)
        weight_map.update({name: shard for name in part})
    index = {"metadata": {"total_size": 0}, "weight_map": weight_map}
    (folder / f"{prefix}.{suffix}.index.json").write_text(json.dumps(index, indent=1) + "\n")


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    expected = {}

    def put(name, tensors, save):
        save(folder / name)
        expected[name] = described(tensors)

    typed, strided = typed_tensors(), strided_tensors()
    few = {"layer.0.weight": typed["f32"], "layer.0.bias": typed["f16"], "head": typed["bf16"]}
    unsigned = {f"u{bits}": torch.tensor([1, 2**bits - 1], dtype=getattr(torch, f"uint{bits}"))
                for bits in (16, 32, 64)}
    noted = {"noted": with_attribute(torch.tensor([4.0, 5.0]))}
    nested = {"epoch": 3, "lr": 0.1, "state_dict": few,
              "optimizer": {"state": {0: {"step": torch.tensor(9.0)}}, "shape": torch.Size([2, 3])}}
    module = torch.nn.Linear(3, 2)
    torch.nn.init.constant_(module.weight, 0.5)
    torch.nn.init.constant_(module.bias, -1)

    put("types.safetensors", typed, lambda path: save_file(typed, path, {"format": "pt"}))
    put("types.bin", typed, lambda path: torch.save(typed, path))
    put("strided.bin", strided, lambda path: torch.save(strided, path))
    put("types_legacy.bin", typed, lambda path: save_legacy(typed, path))
    put("strided_legacy.bin", strided, lambda path: save_legacy(strided, path))
    put("unsigned.bin", unsigned, lambda path: torch.save(unsigned, path))
    put("noted.bin", noted, lambda path: torch.save(noted, path))
    put("nested.bin", few, lambda path: torch.save(nested, path))
    put("module.bin", dict(module.state_dict()), lambda path: torch.save(module.state_dict(), path))
    for protocol in (1, 3, 4, 5):
        put(f"protocol{protocol}.bin", few,
            lambda path, protocol=protocol: torch.save(few, path, pickle_protocol=protocol))
    put("deflated.bin", typed, lambda path: save_deflated(folder / "types.bin", path))
    save_shards(folder / "shards", few, "model", "safetensors", save_file)
    save_shards(folder / "torch_shards", few, "pytorch_model", "bin", torch.save)
    expected["shards"] = expected["torch_shards"] = described(few)

    harmful = b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R."
    save_as_zip(harmful, folder / "harmful.bin")
    system = {"protocol_version": 1001, "little_endian": True}
    head = b"".join(pickle.dumps(part, protocol=2)
                    for part in (0x1950A86A20F9469CFC6C, 1001, system))
    (folder / "harmful_legacy.bin").write_bytes(head + harmful)
    torch.save({"z": torch.tensor([1j])}, folder / "complex.bin")

    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

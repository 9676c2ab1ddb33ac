#!/usr/bin/env python3
"""Shows whether a change of the code changed any answer: records several hundred runs of the program, and compares two
recordings bit for bit.

    scripts/compare_runs.py record build/release/whyformer before/     # every command, method and kind of input
    scripts/compare_runs.py record build/release/whyformer after/
    scripts/compare_runs.py compare before/ after/

Seconds are left out. Differences of messages are counted, and shown with --messages.
"""
import argparse
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests/golden"
DATA = ROOT / "tests/data"
TEXT = "a warm , funny and generous film"
WORDS = "a warm funny and generous film the plot is dull jokes fall flat not one good bad scene story".split()
# Methods that look at many hidden inputs, made short.
SHORT = {"integrated-gradients": "steps=16", "smooth-grad": "samples=4", "kernel-shap": "samples=64", "lime": "samples=64",
         "permutation-shap": "max-evals=300", "sampling-shap": "samples=300", "shap": "max-evals=64",
         "partition-shap": "max-evals=64"}


def tokenizer_json(size):
    """A tokenizer of whole words for a model with `size` ids."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ",", *WORDS]
    ids = {word: i for i, word in enumerate(vocabulary[:size])}
    special = [{"id": ids[t], "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                "special": True} for t in vocabulary[:5]]
    cls, a, b, sep = ({"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                      {"Sequence": {"id": "B", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}})
    return json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {"type": "TemplateProcessing", "single": [cls, a, sep], "pair": [cls, a, sep, b, sep],
                           "special_tokens": {t: {"id": t, "ids": [ids[t]], "tokens": [t]} for t in ("[CLS]", "[SEP]")}},
        "decoder": None, "model": {"type": "WordLevel", "vocab": ids, "unk_token": "[UNK]"}})


def write_safetensors(path, inputs):
    """Seeded arrays for inputs as `inspect --json` tells them."""
    draw = random.Random(7)
    header, body = {}, b""
    for item in inputs:
        count = 1
        for length in item["shape"]:
            count *= length
        name, kind = item["name"], item["type"]
        if "mask" in name:
            values = [1] * count
        elif "int" in kind:
            values = [0 if "type" in name else draw.randrange(1, 4) for _ in range(count)]
        else:
            values = [draw.gauss(0, 1) for _ in range(count)]
        code, letter = {"int64": ("I64", "q"), "int32": ("I32", "i"), "bool": ("BOOL", "?"), "float64": ("F64", "d")}.get(
            kind, ("F32", "f"))
        data = struct.pack(f"<{count}{letter}", *values)
        header[name] = {"dtype": code, "shape": item["shape"], "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


class Recorder:
    def __init__(self, program, folder):
        self.program, self.folder, self.count = program, folder, 0
        self.work = folder / "work"
        shutil.rmtree(folder, ignore_errors=True)
        self.work.mkdir(parents=True)

    def run(self, name, *arguments, save=None, stdin=""):
        command = [str(a) for a in arguments]
        done = subprocess.run([self.program, *command], capture_output=True, text=True, input=stdin, cwd=self.work)
        files = {save: (self.work / save).read_bytes().hex()} if save and (self.work / save).exists() else {}
        record = {"command": command, "code": done.returncode, "out": done.stdout, "err": done.stderr, "files": files}
        (self.folder / f"{name}.json").write_text(json.dumps(record, indent=1))
        self.count += 1
        if sys.stderr.isatty():
            print(f"\r{self.count} runs", end="", file=sys.stderr, flush=True)
        return record

    def methods(self):
        out = subprocess.run([self.program, "methods", "--json"], capture_output=True, text=True, check=True).stdout
        return [method["name"] for method in json.loads(out)]

    def explain(self, name, method, *arguments):
        option = ["--option", f"{method}.{SHORT[method]}"] if method in SHORT else []
        self.run(name, "explain", *arguments, "--method", method, *option, "--json", "-")


def record_texts(to, methods):
    for method in methods:
        to.explain(f"text-{method}", method, "--text", TEXT)
        to.explain(f"double-{method}", method, "--text", "good film", "--precision", "double", "--target", "0")
    for source in sorted((GOLDEN / "models").iterdir()):
        if not source.is_dir():
            continue
        folder = to.work / source.name
        shutil.copytree(source, folder)
        size = json.loads((folder / "config.json").read_text())["vocab_size"]
        (folder / "tokenizer.json").write_text(tokenizer_json(size))
        similar = ["--similar-to", "good story"] if source.name == "bert-mean-pooling" else []
        for method in ("gae", "attn-lrp", "decompx", "alti", "kernel-shap", "integrated-gradients"):
            to.explain(f"folder-{source.name}-{method}", method, "--model", folder, "--text", TEXT, *similar)
        to.explain(f"pair-{source.name}", "gradient-x-input", "--model", folder, "--text", TEXT, "--pair", "dull plot", *similar)
        to.run(f"inspect-{source.name}", "inspect", folder, "--json")
        to.run(f"trace-{source.name}", "trace", "--model", folder, "--text", TEXT, "--save", "maps.safetensors",
               save="maps.safetensors")
    for file in sorted((GOLDEN / "onnx/text").glob("*.onnx")):
        folder = to.work / f"onnx-{file.stem}"
        folder.mkdir()
        shutil.copy(file, folder / "model.onnx")
        (folder / "tokenizer.json").write_text(tokenizer_json(64))
        for method in ("gae", "lrp", "leave-one-out"):
            to.explain(f"onnx-text-{file.stem}-{method}", method, "--model", folder / "model.onnx", "--text", TEXT)


def record_pictures(to, methods):
    picture = DATA / "pictures/objects/object-000.png"
    for method in methods:
        to.explain(f"picture-{method}", method, picture)
    for source in sorted((GOLDEN / "pictures").iterdir()):
        if (source / "config.json").exists():
            for method in ("gae", "attn-lrp", "saliency", "leave-one-out"):
                to.explain(f"picture-{source.name}-{method}", method, picture, "--model", source)
            to.run(f"inspect-picture-{source.name}", "inspect", source, "--json")
    clip = GOLDEN / "pairs/model"
    for method in methods:
        to.explain(f"clip-pair-{method}", method, GOLDEN / "pairs/picture.png", "--model", clip, "--pair", "a red ball")
    to.explain("clip-among", "gae", picture, "--model", clip, "--among", "a cat", "--among", "a dog")


def record_arrays(to):
    for file in sorted((GOLDEN / "onnx/models").glob("*.onnx")) + sorted((GOLDEN / "onnx/layouts").glob("*.onnx")):
        found = to.run(f"inspect-{file.stem}", "inspect", file, "--json")
        if found["code"] != 0:
            continue
        arrays = to.work / f"{file.stem}.safetensors"
        write_safetensors(arrays, json.loads(found["out"])["inputs"])
        for method in ("gae", "attn-lrp", "leave-one-out"):
            to.explain(f"arrays-{file.stem}-{method}", method, "--model", file, "--inputs", arrays, "--hiding-id", "0")
        to.run(f"trace-{file.stem}", "trace", "--model", file, "--inputs", arrays, "--save", "maps.safetensors",
               save="maps.safetensors")


def record_tables(to, methods):
    table = to.work / "rows.csv"
    draw = random.Random(3)
    rows = [[f"{draw.gauss(0, 1):.3f}" for _ in range(4)] + [str(draw.randrange(3)) for _ in range(3)] for _ in range(20)]
    table.write_text("\n".join(",".join(row) for row in [list("abcdefg"), *rows]) + "\n")
    model = GOLDEN / "onnx/models/ft-transformer.sdpa.legacy.14.onnx"
    for method in methods:
        to.explain(f"table-{method}", method, "--model", model, "--table", table, "--row", "1", "--background", table)
    to.run("table-all-rows", "explain", "--model", model, "--table", table, "--method", "gae", "--json", "-")


def record_studies(to):
    corpus = DATA / "sentiment.tsv"
    lines = "\n".join(line.split("\t")[0] for line in corpus.read_text().splitlines()[1:9]) + "\n"
    to.run("lines", "explain", "--method", "gae", stdin=lines)
    to.run("importance", "importance", "--file", "-", "--method", "gae", "--json", "-", stdin=lines)
    to.run("heads", "heads", corpus, "--limit", "20", "--prune", "--json", "-")
    to.run("heads-voita", "heads", corpus, "--limit", "8", "--measure", "voita-lrp,entropy", "--json", "-")
    to.run("tokenize", "tokenize", "--json", stdin=json.dumps(TEXT) + "\n" + json.dumps({"text": "good", "pair": "bad"}) + "\n")
    concepts = DATA / "concepts"
    to.run("tcav", "tcav", "--target", concepts / "zebra", "--concept", concepts / "striped", "--random", concepts / "others",
           "--layer", "1", "--counterparts", "5", "--permutations", "20", "--json", "-")
    to.run("inspect", "inspect", "--json")
    to.run("relevance", "inspect", "--relevance")
    to.run("methods", "methods", "--json")


def record_refusals(to):
    for name, arguments in {"no-text": ["explain", "--text", ""], "no-file": ["explain", "--model", "missing", "--text", "x"],
                            "no-method": ["explain", "--text", "x", "--method", "gea"],
                            "no-label": ["explain", "--text", "x", "--target", "none"],
                            "no-option": ["explain", "--text", "x", "--method", "gae", "--option", "gae.x=1"],
                            "no-table": ["explain", "--table", "missing.csv"]}.items():
        to.run(f"refusal-{name}", *arguments)


def record(program, folder):
    to = Recorder(str(pathlib.Path(program).resolve()), folder)
    methods = to.methods()
    record_texts(to, methods)
    record_pictures(to, methods)
    record_arrays(to)
    record_tables(to, methods)
    record_studies(to)
    record_refusals(to)
    shutil.rmtree(to.work)
    print(f"{to.count} runs recorded in {folder}", file=sys.stderr)


def answers(record):
    """The numbers of a run: its JSON without seconds; texts that are no JSON as they are."""
    def without_seconds(value):
        if isinstance(value, dict):
            return {k: without_seconds(v) for k, v in value.items() if not k.endswith("seconds")}
        return [without_seconds(v) for v in value] if isinstance(value, list) else value

    try:
        return without_seconds(json.loads(record["out"]))
    except json.JSONDecodeError:
        pass
    try:
        return [without_seconds(json.loads(line)) for line in record["out"].splitlines()]
    except json.JSONDecodeError:
        return record["out"]


def without_texts(value):
    """Numbers alone: notes and reasons may be worded otherwise."""
    if isinstance(value, dict):
        return {k: without_texts(v) for k, v in value.items() if k not in ("notes", "reason", "error", "refusals")}
    return [without_texts(v) for v in value] if isinstance(value, list) else value


def compare(before, after, show_messages):
    names = sorted({f.name for f in before.glob("*.json")} | {f.name for f in after.glob("*.json")})
    changed = messages = 0
    for name in names:
        if not (before / name).exists() or not (after / name).exists():
            print(f"{name}: only in one recording")
            changed += 1
            continue
        old, new = (json.loads((folder / name).read_text()) for folder in (before, after))
        numbers = [(r["code"], without_texts(answers(r)), r["files"]) for r in (old, new)]
        if numbers[0] != numbers[1]:
            print(f"{name}: answers differ (exit codes {old['code']} and {new['code']})")
            changed += 1
        elif (answers(old), old["err"]) != (answers(new), new["err"]):
            messages += 1
            if show_messages:
                print(f"{name}: messages differ\n  {old['err']}  {new['err']}")
    print(f"{len(names)} runs, {changed} with other answers, {messages} with other messages")
    return 1 if changed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("program")
    recording.add_argument("folder", type=pathlib.Path)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=pathlib.Path)
    comparing.add_argument("after", type=pathlib.Path)
    comparing.add_argument("--messages", action="store_true")
    given = parser.parse_args()
    if given.command == "record":
        return record(given.program, given.folder.resolve())
    return compare(given.before, given.after, given.messages)


if __name__ == "__main__":
    sys.exit(main())

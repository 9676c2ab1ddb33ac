"""Compares `whyformer tokenize` with the reference on the lines of text files, for any model folders.

Versions it was written against: tokenizers 0.23.3, transformers 5.22.2.
Usage: python scripts/compare_tokenizers.py --program build/whyformer --models DIR [DIR ...] --texts FILE_OR_DIR [...]

Each line of a file is one input; with --whole each file is one. --pairs also sends each input with the one before it.
A folder with tokenizer.json is read by `tokenizers`, another one by `transformers`. Exits with 1 if anything differs.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys

from tokenizers import Tokenizer


def reference_tokenizer(folder):
    if (folder / "tokenizer.json").exists():
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    else:
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(str(folder)).backend_tokenizer
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def read_inputs(paths, whole, pairs):
    files = itertools.chain.from_iterable(sorted(path.rglob("*")) if path.is_dir() else [path] for path in paths)
    previous = None
    for file in files:
        if not file.is_file():
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        for part in [text] if whole else text.split("\n"):
            yield {"text": part}
            if pairs and previous is not None:
                yield {"text": part, "pair": previous}
            previous = part


def run_program(program, folder, inputs):
    lines = "".join(json.dumps(item) + "\n" for item in inputs)
    command = [program, "tokenize", "--model", str(folder), "--json"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def expected(tokenizer, item):
    encoding = tokenizer.encode(item["text"], item.get("pair"))
    return {"ids": encoding.ids, "offsets": [list(offset) for offset in encoding.offsets]}


def compare(tokenizer, inputs, outputs, shown):
    different = 0
    for item, output in zip(inputs, outputs, strict=True):
        wanted = expected(tokenizer, item)
        got = {"ids": output["ids"], "offsets": [list(offset) for offset in output["offsets"]]}
        if got == wanted:
            continue
        different += 1
        if different <= shown:
            print(f"  input    {json.dumps(item, ensure_ascii=False)[:300]}")
            print(f"  expected {json.dumps(wanted)[:300]}")
            print(f"  got      {json.dumps(got)[:300]}")
    return different


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="whyformer")
    parser.add_argument("--models", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--texts", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--whole", action="store_true", help="each file is one input")
    parser.add_argument("--pairs", action="store_true", help="also send each input with the one before it")
    parser.add_argument("--show", type=int, default=3, help="how many differences to print per model")
    options = parser.parse_args()
    inputs = list(read_inputs(options.texts, options.whole, options.pairs))
    failed = False
    for folder in options.models:
        outputs = run_program(options.program, folder, inputs)
        different = compare(reference_tokenizer(folder), inputs, outputs, options.show)
        print(f"{folder}: {len(inputs)} inputs, {different} different")
        failed = failed or different > 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A folder includes only those above it in CONTRIBUTING.md's table of folders, and the edges include public headers only.

    scripts/check_levels.py
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EDGES = ["cli", "python/bindings"]
# The package's command is the program itself.
ALLOWED = {("python/bindings/command_line.cpp", "cli/command_line.h")}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
OURS = (".h", ".cpp")


def levels_of_table() -> list[str]:
    """The rows `src/NAME` of the folder table, in their order."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.findall(r"^\|\s*`src/(\w+)`", text, re.MULTILINE)


def levels_of_build() -> list[str]:
    """The folders of src/CMakeLists.txt in their order, without the folders inside them."""
    text = (ROOT / "src/CMakeLists.txt").read_text(encoding="utf-8")
    listed = re.search(r"foreach\(folder IN ITEMS\s+(.*?)\)", text, re.DOTALL).group(1).split()
    return list(dict.fromkeys(name.split("/")[0] for name in listed))


def sources(folder: str) -> list[Path]:
    return sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in OURS)


def target_of(source: Path, name: str) -> str:
    """The included file as a path from the root: beside the source, in src, in include, or from the root."""
    for folder in (source.parent, ROOT / "src", ROOT / "include", ROOT):
        if (folder / name).is_file():
            return (folder / name).resolve().relative_to(ROOT).as_posix()
    return name


def includes(folder: str):
    for source in sources(folder):
        for name in INCLUDE.findall(source.read_text(encoding="utf-8")):
            yield source.relative_to(ROOT).as_posix(), target_of(source, name)


def problems_of_library(levels: list[str]):
    rank = {name: number for number, name in enumerate(levels)}
    unlisted = sorted({path.relative_to(ROOT).parts[1] for path in sources("src")} - set(levels))
    yield from (f"src/{folder}: CONTRIBUTING.md's table does not list it" for folder in unlisted)
    for source, target in includes("src"):
        folder = source.split("/")[1]
        # A test builds what it needs from whatever there is.
        if source.endswith("_test.cpp") or folder not in rank:
            continue
        if target.startswith("src/"):
            used = target.split("/")[1]
            if used in rank and rank[used] > rank[folder]:
                yield f"{source} -> {target}: src/{used} is below src/{folder}"
        elif not target.startswith("include/") and (ROOT / target).exists():
            yield f"{source} -> {target}: the library uses nothing outside src and include"


def problems_of_public_headers():
    for source, target in includes("include"):
        if not target.startswith("include/whyformer/"):
            yield f"{source} -> {target}: public headers stand alone"


def problems_of_edges():
    for edge in EDGES:
        for source, target in includes(edge):
            own = target.startswith(edge + "/") or target.startswith("include/whyformer/")
            if not own and (ROOT / target).exists() and (source, target) not in ALLOWED:
                yield f"{source} -> {target}: {edge} uses include/whyformer only"


def main() -> int:
    levels = levels_of_table()
    problems = []
    if levels != levels_of_build():
        problems.append("The order of folders differs:\n"
                        f"  CONTRIBUTING.md:    {' '.join(levels)}\n"
                        f"  src/CMakeLists.txt: {' '.join(levels_of_build())}")
    problems += [*problems_of_library(levels), *problems_of_public_headers(), *problems_of_edges()]
    if problems:
        print(f"Levels: {len(problems)} problems; a folder includes only those above it in CONTRIBUTING.md's table.")
        print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

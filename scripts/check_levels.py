#!/usr/bin/env python3
"""A folder includes only those that CONTRIBUTING.md's table of folders allows it, all of them above it, and the edges
include public headers only.

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


def rows_of_table() -> dict[str, str]:
    """Of each row of the folder table, in their order, the folder and what it may use."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\|\s*`((?:src/\w+)|cli|python)`.*\|\s*([^|]*?)\s*\|$", text, re.MULTILINE))


def levels_of_table() -> list[str]:
    return [folder.removeprefix("src/") for folder in rows_of_table() if folder.startswith("src/")]


def allowed_in_table(levels: list[str]) -> dict[str, set[str]]:
    """The folders of src that each may use, itself among them. Throws ValueError where a row allows one below it."""
    allowed = {}
    for number, level in enumerate(levels):
        used = rows_of_table()[f"src/{level}"]
        first, _, last = used.partition(" … ")
        ends = [levels.index(name) for name in (first, last or first)] if used != "–" else [0, -1]
        if ends[1] >= number:
            raise ValueError(f"src/{level} may not use what is below it: {used}")
        allowed[level] = {level, *levels[ends[0]:ends[1] + 1]}
    return allowed


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


def problems_of_library(allowed: dict[str, set[str]]):
    unlisted = sorted({path.relative_to(ROOT).parts[1] for path in sources("src")} - set(allowed))
    yield from (f"src/{folder}: CONTRIBUTING.md's table does not list it" for folder in unlisted)
    for source, target in includes("src"):
        folder = source.split("/")[1]
        # A test builds what it needs from whatever there is.
        if source.endswith("_test.cpp") or folder not in allowed:
            continue
        if target.startswith("src/"):
            used = target.split("/")[1]
            if used in allowed and used not in allowed[folder]:
                yield f"{source} -> {target}: src/{folder} may not use src/{used}"
        elif not target.startswith("include/") and (ROOT / target).exists():
            yield f"{source} -> {target}: the library uses nothing outside src and include"


def problems_of_public_headers():
    for source, target in includes("include"):
        if not target.startswith("include/whyformer/"):
            yield f"{source} -> {target}: public headers stand alone"


def problems_of_edges():
    for row in ("cli", "python"):
        if (used := rows_of_table().get(row)) != "`include/whyformer`":
            yield f"{row}: CONTRIBUTING.md says that it may use {used}, not `include/whyformer`"
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
    problems += [*problems_of_library(allowed_in_table(levels)), *problems_of_public_headers(), *problems_of_edges()]
    if problems:
        print(f"Levels: {len(problems)} problems; a folder includes only what CONTRIBUTING.md's table allows it.")
        print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

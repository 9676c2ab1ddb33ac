#!/usr/bin/env python3
"""No source is longer than 450 lines, and no function longer than 60.

    scripts/check_sizes.py
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ["src", "include", "cli", "python/bindings", "tests/support", "benchmarks", "examples", "fuzz"]
PYTHON_FOLDERS = ["python", "scripts", "benchmarks"]
LONGEST_FILE = 450
LONGEST_FUNCTION = 60
# Braces around these hold declarations, not statements.
SCOPE = re.compile(r"^\s*(inline )?(namespace|class|struct|union|enum|extern \"C\"|template <[^>]*>\s*(class|struct))\b")
LITERAL = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)


def blanked(match: re.Match) -> str:
    return "\n" * match.group().count("\n")


def without_literals(text: str) -> str:
    return LITERAL.sub(blanked, text)


def functions(text: str):
    """The first line and the number of lines of each function. The layout is clang-format's: the brace that opens a body
    ends its line."""
    lines = [re.sub(r"^\s*#.*", ";", line) for line in without_literals(text).split("\n")]
    scopes = []  # for each open brace, whether it holds declarations
    is_function = False  # or a list of values
    head = begin = 0  # where the declaration at hand, and the function at hand, began
    for number, line in enumerate(lines):
        if not line.strip() and all(scopes):
            head = number + 1
        for letter in line:
            if letter == "{":
                declaration = " ".join(lines[head:number + 1])
                holds_declarations = all(scopes) and SCOPE.match(declaration) is not None
                if all(scopes) and not holds_declarations:
                    begin = head
                    is_function = "(" in declaration and " = " not in declaration.split("(")[0]
                scopes.append(holds_declarations)
                if holds_declarations:
                    head = number + 1
            elif letter == "}" and scopes:
                held_statements = not scopes.pop()
                if held_statements and is_function and all(scopes):
                    yield begin + 1, number - begin + 1
        if all(scopes) and line.rstrip().endswith((";", "}", "{", ":")):
            head = number + 1


def python_functions(text: str):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def is_python(path: Path) -> bool:
    if path.suffix:
        return path.suffix == ".py"
    with path.open("rb") as file:
        return b"python" in file.readline()


def sources():
    """Each file with what finds its functions."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path, functions
    for folder in PYTHON_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and is_python(path):
                yield path, python_functions


def main() -> int:
    problems = []
    for path, functions_of in sources():
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        count = text.count("\n")
        if count > LONGEST_FILE:
            problems.append(f"{name}: {count} lines")
        problems += [f"{name}:{line}: a function of {length} lines" for line, length in functions_of(text)
                     if length > LONGEST_FUNCTION]
    if problems:
        print(f"Sizes: {len(problems)} problems; a file has at most {LONGEST_FILE} lines, a function {LONGEST_FUNCTION}.")
        print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

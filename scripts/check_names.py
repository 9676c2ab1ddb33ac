#!/usr/bin/env python3
"""No two types of the library have one name: two definitions are undefined behaviour, or at best confusing. An alias may
be repeated (`using Json = …`), but not be called like a type.

    scripts/check_names.py
"""

import re
import sys
from collections import defaultdict

from check_sizes import FOLDERS, ROOT, without_literals

NAMESPACE = re.compile(r"\bnamespace(\s+[\w:]+)?\s*$")
TYPE = re.compile(r"(?:^|[\s>])(?:struct|class|enum class|enum|union)\s+(\w+)\s*(?:final\s*)?(?::(?!:)[^()=]*)?$")
ALIAS = re.compile(r"^\s*(?:template\s*<[^;]*>\s*)?using\s+(\w+)\s*=")


def types(text: str):
    """The types and aliases that stand in namespaces, named or not, rather than in types and functions: the name, and
    whether it is an alias."""
    depth = 0  # of the braces that are no namespace's
    scopes = []
    head = ""
    for letter in re.sub(r"^\s*#.*", "", without_literals(text), flags=re.MULTILINE):
        if letter not in "{};":
            head += letter
            continue
        if letter == "{":
            is_namespace = NAMESPACE.search(head) is not None
            if depth == 0 and not is_namespace and (found := TYPE.search(head)):
                yield found.group(1), False
            scopes.append(is_namespace)
            depth += not is_namespace
        elif letter == ";" and depth == 0 and (found := ALIAS.search(head)):
            yield found.group(1), True
        elif letter == "}" and scopes:
            depth -= not scopes.pop()
        head = ""


def main() -> int:
    places = defaultdict(set)
    defined = set()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp") and not path.name.endswith("_test.cpp"):
                for name, is_alias in types(path.read_text(encoding="utf-8")):
                    places[name].add(path.relative_to(ROOT).as_posix())
                    if not is_alias:
                        defined.add(name)
    shared = {name: files for name, files in places.items() if len(files) > 1 and name in defined}
    if shared:
        print(f"Names: {len(shared)} types share their name with another; the less central one takes another.")
        print("\n".join(f"{name}: {', '.join(sorted(files))}" for name, files in sorted(shared.items())))
    return 1 if shared else 0


if __name__ == "__main__":
    sys.exit(main())

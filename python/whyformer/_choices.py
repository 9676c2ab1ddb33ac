"""Words that stand for one of a few settings."""

from __future__ import annotations

from ._native import InvalidInput


def choice(kind, name: str, value: str):
    """A member of an enumeration by its name."""
    found = getattr(kind, value, None) if isinstance(value, str) and not value.startswith("_") else None
    if not isinstance(found, kind):
        known = ", ".join(member for member in kind.__members__)
        raise InvalidInput(f"{name}={value!r}: choose from {known}")
    return found

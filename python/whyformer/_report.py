"""Results that the engine draws and describes by itself."""

from __future__ import annotations

import json
import os
import shutil

from . import _native
from ._display import picture_bundle
from ._native import InvalidInput
from ._results import ending_of, picture_format


class Report:
    """Attributes are those of the command line's JSON."""

    def __init__(self, native):
        self._native = native
        self._dict = json.loads(native.json())

    def to_dict(self) -> dict:
        return self._dict

    def to_json(self) -> str:
        return self._native.json()

    def __getattr__(self, name: str):
        if name.startswith("_"):  # copies ask for these before there is anything
            raise AttributeError(name)
        if name in self._dict:
            return self._dict[name]
        raise AttributeError(f"{type(self).__name__} has no {name!r}, only {', '.join(self._dict)}")

    def __dir__(self):
        return [*super().__dir__(), *self._dict]

    def save(self, path) -> None:
        """Writes .json, .svg or .png (and .html where there is a page), as the name ends."""
        ending = ending_of(path)
        if ending == ".json":
            content = (self.to_json() + "\n").encode()
        elif ending == ".html" and hasattr(self._native, "html"):
            content = self._native.html().encode()
        elif ending in (".svg", ".png"):
            content = self._picture(picture_format(path))
        else:
            raise InvalidInput(f"cannot write '{os.fspath(path)}': the name must end in .json, .svg or .png")
        _native.save(path, content)

    def _picture(self, format) -> bytes:
        return self._native.picture(format)

    def __str__(self) -> str:
        return self._native.terminal(False, min(shutil.get_terminal_size().columns, 120))

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return picture_bundle(str(self), self._picture(_native.PictureFormat.png))

    def __repr__(self) -> str:
        return str(self)

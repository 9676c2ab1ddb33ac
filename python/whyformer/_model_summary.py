"""What was found in a model."""

from __future__ import annotations

from typing import Any

from . import _native
from ._display import picture_bundle
from ._results import ending_of, picture_format


class ModelSummary:
    """What was found in a model; attributes as in the command `whyformer inspect --json`."""

    def __init__(self, native: _native.ModelInfo):
        self._native = native

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copies ask for these before there is anything
            raise AttributeError(name)
        return getattr(self._native, name)

    def __dir__(self):
        return [name for name in dir(self._native) if not name.startswith("_")]

    def save(self, path) -> None:
        """Writes .html, .svg or .png, as the name ends."""
        if ending_of(path) == ".html":
            _native.save(path, _native.model_html(self._native).encode())
        else:
            _native.save(path, _native.model_picture(self._native, picture_format(path)))

    def __repr__(self) -> str:
        info = self._native
        # Files may say neither their architecture nor their task.
        name = f"{info.model.name} ({info.model.architecture})" if info.model.architecture else info.model.name
        lines = [name, *([f"  task       {info.task}"] if info.task else []),
                 f"  parameters {info.parameters:,}", f"  read-out   {info.read_out}"]
        for index, stream in enumerate(info.streams):
            lines.append(f"  stream {index}   {stream.tokens} × {stream.units}")
        for index, site in enumerate(info.sites):
            lines.append(f"  site {index:<5} {site.kind}, {site.heads} heads, {site.name}")
        lines += [f"  note: {note}" for note in info.notes]
        return "\n".join(_native.printable(line) for line in lines)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return picture_bundle(repr(self), _native.model_picture(self._native, _native.PictureFormat.png))

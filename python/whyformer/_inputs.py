"""From what people have (texts, pictures, arrays, tables) to what the engine takes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import numpy as np

from . import _native
from ._cells import cell_rows, cell_text
from ._native import InvalidInput


def is_picture(x) -> bool:
    """Whether `x` means a picture rather than a text."""
    if isinstance(x, (list, tuple)):
        return bool(x) and is_picture(x[0])
    if isinstance(x, str):
        return _native.means_picture(x)
    return isinstance(x, (os.PathLike, np.ndarray)) or _is_pil(x)


def _is_pil(x) -> bool:
    return hasattr(x, "convert") and hasattr(x, "tobytes") and hasattr(x, "size")


def refuse(options: Mapping, why: str) -> None:
    """What would be ignored."""
    for name, given in options.items():
        if given is not None and given is not False:
            raise InvalidInput(f"{name}= {why}")


def is_arrays(x) -> bool:
    """Whether `x` is arrays by the names of a file's inputs rather than a text with its pair."""
    return isinstance(x, Mapping) and not isinstance(x.get("text"), str)


def with_rows(x, model):
    """Cells by the names of columns, or a list of such rows, as a row of a frame or a frame, for a model that reads
    words; everything else as it is."""
    if not (model.reads_tables and model.reads_words):
        return x
    if isinstance(x, Mapping) and x and all(np.ndim(cell) == 0 for cell in x.values()):
        import pandas

        return pandas.Series(dict(x), dtype=object)
    if isinstance(x, (list, tuple)) and x and all(isinstance(row, Mapping) or hasattr(row, "index") and
                                                  hasattr(row, "to_dict") for row in x):
        import pandas

        return pandas.DataFrame([dict(row) for row in x], dtype=object)
    return x


def array_input(x) -> dict:
    if not is_arrays(x):
        raise InvalidInput("expected arrays: give a dictionary of them by the names of the file's inputs")
    return {str(name): _array_view(str(name), np.asarray(array)) for name, array in x.items()}


def _array_view(name: str, array: np.ndarray):
    try:
        # Scalars stay scalars.
        return _native.ArrayView(np.ascontiguousarray(array).reshape(array.shape))
    except TypeError:
        raise InvalidInput(f"the array '{name}' has the type {array.dtype}, which no input takes") from None


def text_input(x, pair=None):
    """A text, (text, second text), or a dictionary with `text` and `pair`."""
    if isinstance(x, Mapping):
        x, pair = x.get("text"), x.get("pair", pair)
    elif isinstance(x, tuple) and len(x) == 2:
        x, pair = x
    if not isinstance(x, str) or not (pair is None or isinstance(pair, str)):
        raise InvalidInput(f"expected a text, not {type(x).__name__}: this model reads texts")
    for text in (x, pair or ""):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(f"character {error.start} of the text is half of a character (a lone surrogate): take it "
                               "out") from None
    return _native.TextInput(x, pair)


def texts(x, pair=None):
    """Inputs, and whether there is just one."""
    if isinstance(x, (str, Mapping)) or (isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], str)):
        return [text_input(x, pair)], True
    if hasattr(x, "columns"):
        if len(x.columns) != 1:
            raise InvalidInput(f"this model reads texts: give one column of the table, such as table[{str(x.columns[0])!r}]")
        x = x[x.columns[0]]
    if isinstance(x, Iterable) and not isinstance(x, (bytes, bytearray)):
        return [numbered(index, text_input, one, pair) for index, one in enumerate(x)], False
    return [text_input(x, pair)], True


def numbered(index: int, make, *given):
    """An error that tells which of several inputs it is about."""
    try:
        return make(*given)
    except InvalidInput as error:
        raise InvalidInput(f"input {index}: {error}") from None


def picture_input(x):
    """A file's path, a PIL picture, or an array [height, width, 3] of 0 to 255 (or 0 to 1 where it has fractions)."""
    if isinstance(x, (str, os.PathLike)):
        return _native.PictureFile(os.fspath(x))
    if _is_pil(x):
        name = os.path.basename(getattr(x, "filename", "") or "") or "picture"
        # EXIF orientation as for files.
        from PIL import ImageOps

        pixels = np.asarray(ImageOps.exif_transpose(x).convert("RGB"))
        return _native.PicturePixels(name, np.ascontiguousarray(pixels))
    if isinstance(x, np.ndarray):
        return _native.PicturePixels("array", _pixels_of(x))
    raise InvalidInput(f"expected a picture, not {type(x).__name__}: give a path, a PIL image, or an array "
                       "[height, width, 3]")


def _pixels_of(array: np.ndarray) -> np.ndarray:
    if array.ndim == 2:
        array = np.repeat(array[:, :, None], 3, axis=2)
    if array.ndim != 3 or array.shape[2] != 3:
        raise InvalidInput(f"a picture is an array [height, width, 3], not {list(array.shape)}")
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    if array.dtype.kind != "f" or not (array.min(initial=0) >= 0 and array.max(initial=0) <= 1):
        raise InvalidInput("a picture holds whole numbers from 0 to 255 (uint8), or fractions from 0 to 1")
    return np.ascontiguousarray(np.rint(array * 255).astype(np.uint8))


def pictures(x, text=None):
    """Inputs, and whether there is just one. With a text to compare with, pairs of the two (CLIP)."""
    found, single = _pictures(x)
    return (found if text is None else [_native.PictureWithText(one, text) for one in found]), single


def _pictures(x):
    if isinstance(x, (str, os.PathLike)) or _is_pil(x) or (isinstance(x, np.ndarray) and x.ndim in (2, 3)):
        return [picture_input(x)], True
    if not isinstance(x, Iterable):
        return [picture_input(x)], True  # says what is expected
    return [numbered(index, picture_input, one) for index, one in enumerate(x)], False


def column_names(x) -> list[str]:
    """Of a frame, or of a row of one."""
    names = [str(name) for name in (x.columns if hasattr(x, "columns") else x.index)]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidInput(f"two columns of the table are called {name!r}: give each a name of its own")
        seen.add(name)
    return names


def named_table(x, model=None):
    """Rows: a DataFrame, an array, a CSV or safetensors file, with names of columns where there are some. Numbers alone,
    unless `model` reads words; then cells are as they would be written."""
    words = model is not None and model.reads_words
    if isinstance(x, (str, os.PathLike)):
        return _native.read_table_for(model, os.fspath(x)) if words else _native.read_table(os.fspath(x))
    is_frame = hasattr(x, "to_numpy") and (hasattr(x, "columns") or hasattr(x, "index"))
    if words:
        if not is_frame:
            raise InvalidInput("this model finds columns by their names: give a DataFrame, a row of one or a CSV file, with "
                               f"the columns {', '.join(_native.column_names(model))}")
        return _table_of_words(x)
    names = None
    if is_frame:
        # A table, or one row of it.
        names = column_names(x)
        try:
            x = x.to_numpy(dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"the table holds something else than numbers: {error}") from None
    try:
        array = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"expected rows of numbers, not {type(x).__name__}") from None
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2:
        raise InvalidInput(f"a table is an array [rows, columns], not {list(array.shape)}")
    # As files without names have them.
    names = names or [f"column {index}" for index in range(array.shape[1])]
    return _native.NamedTable(list(names), np.ascontiguousarray(array))


def _table_of_words(x):
    """Of a frame or one row of it."""
    rows = cell_rows(x) if hasattr(x, "columns") else [[cell_text(cell) for cell in x.tolist()]]
    cells = [cell for row in rows for cell in row]
    if not cells:
        raise InvalidInput("there are no rows")
    numbers = np.array([_number(cell) for cell in cells]).reshape(len(rows), -1)
    return _native.NamedTable(column_names(x), numbers, cells)


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan


def is_one_row(x) -> bool:
    """Whether numbers are one row of a table rather than a table."""
    if isinstance(x, (list, tuple)):
        return bool(x) and np.isscalar(x[0])
    return getattr(x, "ndim", None) == 1


def rows(x, background=None, weights=None, most_rows=100, model=None):
    """Inputs of a model of tables, and whether there is just one."""
    if background is None:
        refuse({"background_weights": weights}, "goes with background=, one weight for each of its rows")
    table = named_table(x, model)
    behind = None
    if background is not None:
        behind = _native.in_order_of(table.names, named_table(background, model))
        behind = behind if weights is not None else _native.background_of(behind, most_rows)
    elif len(table.numbers) > 1 and not (model is not None and _native.has_background(model)):
        behind = _native.background_of(table, most_rows)
    given = [] if weights is None else [float(w) for w in weights]
    return _native.row_inputs(table, behind, given, model), is_one_row(x)

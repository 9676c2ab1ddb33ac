"""Results inside notebooks."""

from __future__ import annotations

import base64
import html
import io
import json
import re
import zlib
from collections.abc import Sequence

import numpy as np

# A notebook keeps every page it shows. Attention maps beyond this are left to pages that are saved.
_MOST_MAPS = 64_000
# Pictures beyond this are stored as JPEG.
_LARGE_STILL = 120_000
_TALLEST = 1000

# Blue for, orange for against: told apart by the colour-blind, and on paper by which side they are on.
FOR, AGAINST = "#2166ac", "#d6604d"

_MAP = re.compile(r'<script type="application/octet-stream" id="map-\d+">[^<]*</script>\n?')
_DATA = re.compile(r'(<script type="application/json" id="data">)(.*?)(</script>)', re.DOTALL)


def notebook_page(page: str, still: bytes, text: str) -> str:
    """A page in a frame of its own, which works offline.

    Where frames and styles are taken out (GitHub, notebooks that are not trusted), the picture `still` remains: it is
    hidden by a style, and that goes with the frame.
    """
    shown = page if _bytes_of_maps(page) <= _MOST_MAPS else without_maps(page)
    name = _name_of(shown)
    return _picture(still, text, f' class="{name}"') + _hidden(name) + _frame(shown)


def notebook_pages(pages: Sequence[str], stills: Sequence[bytes], texts: Sequence[str]) -> str:
    """Pages side by side, as many as fit into the width; as pictures, two in a row."""
    shown = [without_maps(page) for page in pages]
    name = _name_of("".join(shown))
    cells = [f"<td>{_picture(still, text)}</td>" for still, text in zip(stills, texts)]
    rows = "".join(f"<tr>{''.join(cells[first:first + 2])}</tr>" for first in range(0, len(cells), 2))
    frames = "".join(f'<div style="flex:1 1 26em;min-width:20em">{_frame(page)}</div>' for page in shown)
    return (f'<table class="{name}">{rows}</table>' + _hidden(name)
            + f'<div style="display:flex;flex-wrap:wrap;gap:1em">{frames}</div>')


def without_maps(page: str) -> str:
    """The page without its attention maps, which take most of its room."""
    if not _MAP.search(page):
        return page

    def emptied(found: re.Match) -> str:
        data = json.loads(found[2])
        data["attention"]["maps"] = []
        data["attention"]["note"] = "The attention maps are left out in notebooks: save('why.html') shows them."
        # As in the page: nothing in a script block may look like its end.
        return found[1] + json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c") + found[3]

    return _DATA.sub(emptied, _MAP.sub("", page), count=1)


def picture_bundle(text: str, png: bytes) -> dict:
    """A drawing, which shrinks to the width there is."""
    return {"text/plain": text, "text/html": _picture(png, text)}


def error_text(error: float) -> str:
    """A standard error, or a question mark where it is not known."""
    return f"{error:.2g}" if np.isfinite(error) else "?"


def bars_table(title: str, names: Sequence[str], values: np.ndarray, errors: np.ndarray | None) -> str:
    """Numbers with bars; where styles are taken out, the numbers remain."""
    most = np.abs(values).max(initial=0) or 1
    rows = []
    for index, (name, value) in enumerate(zip(names, values)):
        error = "" if errors is None else f" ± {error_text(errors[index])}"
        # Bars begin in the middle and go to the left where they are negative.
        share = abs(value) / most * 50
        place = f"margin-left:{50 - share if value < 0 else 50:.1f}%;width:{share:.1f}%"
        rows.append(f'<tr><td style="text-align:right">{html.escape(name)}</td>'
                    f'<td style="text-align:right">{value:+.4g}{error}</td><td style="width:20em">'
                    f'<div style="{place};height:1em;background:{AGAINST if value < 0 else FOR}"></div></td></tr>')
    return f"<p>{html.escape(title)}</p><table>{''.join(rows)}</table>"


def _bytes_of_maps(page: str) -> int:
    return sum(found.end() - found.start() for found in _MAP.finditer(page))


def _name_of(page: str) -> str:
    # The same page, the same name: a notebook that is run again stays as it was.
    return f"whyformer-still-{zlib.crc32(page.encode()):08x}"


def _hidden(name: str) -> str:
    # Notebooks have rules for pictures of their own, which would win.
    return f"<style>.{name}{{display:none !important}}</style>"


def _frame(page: str) -> str:
    # The frame follows the height of what is in it; 480 is for viewers that allow no scripts.
    follow = ("const page=this.contentDocument.documentElement,fit=()=>{this.style.height="
              f"Math.min(page.offsetHeight+2,{_TALLEST})+'px'}};fit();new ResizeObserver(fit).observe(page)")
    return (f'<iframe srcdoc="{html.escape(page, quote=True)}" onload="{html.escape(follow, quote=True)}" '
            f'style="width:100%;height:480px;border:0" title="explanation"></iframe>')


def _picture(png: bytes, text: str, attributes: str = "") -> str:
    kind, content = _small(png)
    # PNG tells its width in these bytes; two of the pixels make one of a page.
    width = int.from_bytes(png[16:20], "big") // 2
    return (f'<img{attributes} alt="{html.escape(text, quote=True)}" width="{width}" '
            f'src="data:image/{kind};base64,{base64.b64encode(content).decode()}" style="max-width:100%">')


def _small(png: bytes) -> tuple[str, bytes]:
    if len(png) <= _LARGE_STILL:
        return "png", png
    try:
        from PIL import Image
    except ImportError:
        return "png", png
    out = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").save(out, "JPEG", quality=85, optimize=True)
    return "jpeg", out.getvalue()

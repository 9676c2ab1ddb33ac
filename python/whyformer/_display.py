"""Pages inside notebooks."""

from __future__ import annotations

import base64
import html
import itertools

_numbers = itertools.count()


def notebook_page(page: str, still: bytes, text: str) -> str:
    """A page in a frame of its own, which works offline.

    Where frames and styles are taken out (GitHub, notebooks that are not trusted), the picture `still` remains: it is
    hidden by a style, and that goes with the frame.
    """
    name = f"whyformer-still-{next(_numbers)}-{abs(hash(page)) % 10**8}"
    picture = base64.b64encode(still).decode()
    # The frame grows to what is in it; 480 is for viewers that allow no scripts.
    grow = "this.style.height=this.contentDocument.documentElement.scrollHeight+'px'"
    return (f'<img class="{name}" alt="{html.escape(text, quote=True)}" src="data:image/png;base64,{picture}" '
            f'style="max-width:100%">'
            f"<style>.{name}{{display:none}}</style>"
            f'<iframe srcdoc="{html.escape(page, quote=True)}" onload="{grow}" loading="lazy" '
            f'style="width:100%;height:480px;border:0" title="explanation"></iframe>')


def show_picture(svg: bytes) -> str:
    """An SVG picture as HTML that every viewer shows."""
    return f'<img style="max-width:100%" src="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}">'

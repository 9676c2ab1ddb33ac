"""Progress of long work, on a terminal or in a notebook."""

from __future__ import annotations

import sys
import time


class Bar:
    """A line on standard error that shows up when work takes longer than a second."""

    def __init__(self, what: str, wanted):
        self._what, self._wanted = what, wanted
        self._start, self._shown = time.monotonic(), False

    @property
    def callback(self):
        """For the engine: None where nobody looks."""
        if callable(self._wanted):
            return self._wanted
        return self.show if self._visible() else None

    def _visible(self) -> bool:
        if self._wanted is None:
            return sys.stderr is not None and sys.stderr.isatty()
        return bool(self._wanted)

    def show(self, done: int, total: int):
        """What the user's own function answers; False: stop."""
        if callable(self._wanted):
            return self._wanted(done, total)
        passed = time.monotonic() - self._start
        if not self._visible() or (passed < 1 and not self._shown):
            return None
        self._shown = True
        left = passed / done * (total - done) if done else 0
        filled = round(24 * done / max(total, 1))
        bar = "█" * filled + "░" * (24 - filled)
        print(f"\r{self._what} {bar} {done}/{total}, {left:.0f} s left ", end="", file=sys.stderr, flush=True)
        return None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_) -> None:
        if self._shown:
            print("\r" + " " * 78 + "\r", end="", file=sys.stderr, flush=True)

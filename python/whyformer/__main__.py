"""The command line: `whyformer …`, or `python -m whyformer …`."""

import os
import signal
import sys

from ._native import main as _main


def main() -> int:
    # As for a program: Python ignores these two, and then a closed pipe would be an error.
    for ignored in ("SIGPIPE", "SIGXFSZ"):
        if hasattr(signal, ignored):
            signal.signal(getattr(signal, ignored), signal.SIG_DFL)
    return _main([os.fsencode(argument) for argument in sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

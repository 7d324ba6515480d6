"""`python -m pullback`: the command line."""

from __future__ import annotations

import signal
import sys

from . import _core


def main() -> int:
    """Runs the command, and returns its exit code."""
    # The command is not Python: Ctrl-C ends it at once, as it ends the binary.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.command(["pullback", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

"""C++ libraries write to the standard error without being asked."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def said_by_libraries() -> Iterator[Callable[[], str]]:
    """Keep from the screen what they write; some give the reason of a failure only there, so it can be asked for."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)

        def said() -> str:
            file.seek(0)
            return file.read().decode(errors="replace")

        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)

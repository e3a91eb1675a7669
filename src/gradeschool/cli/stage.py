"""Run a command that ends with its parent process, for the stages of `reproduce`.

The parent has the other end of standard input. That pipe closes however the parent dies, on every
system. Everything that the command has stored remains, as after any kill.
"""

from __future__ import annotations

import os
from threading import Thread

from gradeschool.cli import main

STDIN = 0
LEFT_ALONE = 130  # interrupted


def _end_with_parent() -> None:
    while os.read(STDIN, 4096):
        pass
    os._exit(LEFT_ALONE)


def run() -> None:
    """Run the command line of `sys.argv`; end it if the parent process has ended."""
    Thread(target=_end_with_parent, name="end with parent", daemon=True).start()
    main()

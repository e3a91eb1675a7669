"""A command that ends with the process that started it, for the stages of `reproduce`.

The parent holds the other end of standard input. That pipe closes however the parent dies, on
every system; what the command had stored then stays, as after any kill.
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
    """Run the command line of `sys.argv`; end it where the parent process is gone."""
    Thread(target=_end_with_parent, name="end with parent", daemon=True).start()
    main()

"""`python -m gradeschool.cli.stage WORDS`: a command that does not outlive who started it.

Whoever starts it holds the other end of its standard input. That pipe closes however a process
dies, on every system; what a command had stored then stays, as after any kill.
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


if __name__ == "__main__":
    Thread(target=_end_with_parent, name="end with parent", daemon=True).start()
    main()

"""A peer harness that runs in its own environment and answers one JSON line for each asked."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.peers.install import NEWEST, VENVS, python_of

HERE = Path(__file__).resolve().parent
# name of the environment -> the script that runs in it
WORKERS = {
    "lm_eval": "lm_eval_worker.py",
    "functions": "functions_worker.py",
    **dict.fromkeys(
        ("inspect_ai", "inspect_ai_0_3_260", "inspect_ai_0_3_252", "inspect_ai_0_3_220"),
        "inspect_worker.py",
    ),
    **dict.fromkeys(("evalscope", "lighteval", "verifiers"), "math_verify_worker.py"),
}

Request = dict[str, Any]


class Peer:
    """A running peer; `with Peer(name) as peer: peer.ask([...])`.

    Raises RuntimeError with the end of what the peer wrote to stderr where it died.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.log = VENVS / name / "stderr.log"
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Peer:
        cache = VENVS / self.name / "cache"
        places = ("HF_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
        offline = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE")
        settings = dict.fromkeys(places, str(cache)) | dict.fromkeys(offline, "1")
        with self.log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [python_of(self.name), HERE / WORKERS[self.name.removesuffix(NEWEST)]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                env=os.environ | settings,
                cwd=VENVS / self.name,  # no module of ours is found from there
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait()
            self._process = None

    def ask(self, requests: Iterable[Request]) -> Iterator[Any]:
        """Yield the answers in the order of the requests, which are written meanwhile."""
        assert self._process is not None, "use the peer in a with statement"
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None and sink is not None
        requests = list(requests)

        def write() -> None:
            try:
                for request in requests:
                    sink.write(json.dumps(request) + "\n")
                sink.flush()
            except BrokenPipeError:
                pass  # the reader below says why

        writer = threading.Thread(target=write)
        writer.start()
        for _ in requests:
            line = source.readline()
            if not line:
                raise RuntimeError(f"{self.name} died: {self.log.read_text('utf-8')[-2000:]}")
            yield json.loads(line)
        writer.join()

    def answer(self, request: Request) -> Any:
        """Return the answer to a single request."""
        return next(iter(self.ask([request])))

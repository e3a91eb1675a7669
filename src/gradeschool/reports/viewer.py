"""`gradeschool view`: show the runs of a folder as local pages that follow running evaluations.

The server can be reached from this machine only, and only with the token in its address. It reads
run folders and writes nothing. The pages are those of `gradeschool report`, linked from a
leaderboard.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gradeschool.errors import GradeschoolError, InputError
from gradeschool.formats.own_run import COMPLETIONS_FILE
from gradeschool.formats.samples import ReadOptions
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.reports.judged import judge_runs
from gradeschool.reports.measured import measured
from gradeschool.reports.pages import render
from gradeschool.reports.report_page import report_page
from gradeschool.runs.folder import RunSummary, find_runs, summary_of
from gradeschool.scoring.score import score_table
from gradeschool.scoring.sources import choose_runs
from gradeschool.scoring.table import headline_scorer, scored_table

HOST = "127.0.0.1"
MOST_RUNS = 12  # maximum number of runs on one page
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class RunViewer:
    """The runs below a folder, which are read again when they change.

    Links to places outside of the folder are not followed. Raises InputError if the folder does not
    exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = Lock()
        self._rows: dict[Path, tuple[tuple[int, int], dict[str, Any]]] = {}
        self.runs()

    def runs(self) -> dict[str, Path]:
        """Return the run folders by name: their path below the folder."""
        root = self.folder.resolve()
        return {
            path.relative_to(self.folder).as_posix(): path
            for path in find_runs(self.folder)
            if path.resolve().is_relative_to(root)
        }

    def state(self) -> list[dict[str, Any]]:
        """Return one row of the leaderboard for each run, by name.

        The row of a run that cannot be read has the reason; a run that vanishes meanwhile has none.
        """
        with self._lock:
            rows = [self._row(name, path) for name, path in self.runs().items()]
        return [row for row in rows if row]

    def _row(self, name: str, path: Path) -> dict[str, Any]:
        try:
            stamp = _stamp(path)
            known_stamp, row = self._rows.get(path, ((-1, -1), {}))
            if stamp != known_stamp:
                self._require_own(path)
                row = _row_of(summary_of(path), name)
        except Exception as error:  # noqa: BLE001  (one damaged run must not hide the others)
            if not path.exists():
                return {}
            row = {"name": name, "error": _words(error)}
        self._rows[path] = stamp, row
        return row

    def _require_own(self, path: Path) -> None:
        """Raise InputError if a file of a run is a link to a place outside of the folder."""
        root = self.folder.resolve()
        for file in path.iterdir():
            if file.is_symlink() and file.exists() and not file.resolve().is_relative_to(root):
                raise InputError(f"{file.name} is a link to a place outside of the folder; copy "
                                 "the file")  # fmt: skip

    def index(self) -> str:
        """Return the page with the leaderboard, the most accurate run first."""
        runs = sorted(self.state(), key=lambda row: (-row.get("accuracy", -1.0), row["name"]))
        title = f"All runs in {self.folder.resolve().name}/"
        return render("board.html", title, "gradeschool view", live=True, runs=runs)

    def report(self, names: Sequence[str]) -> str:
        """Return the report page of runs by name; raises InputError for unknown or too many."""
        runs = self.runs()
        chosen = list(dict.fromkeys(names))
        if len(chosen) > MOST_RUNS:
            raise InputError(f"at most {MOST_RUNS} runs on one page; {len(chosen)} are selected")
        if not chosen or any(name not in runs for name in chosen):
            raise InputError(f"no such runs: {', '.join(map(repr, chosen)) or 'none is named'}")
        for name in chosen:
            self._require_own(runs[name])
        specs = [str(runs[name]) for name in chosen]
        judged, scorers = judge_runs(specs, ReadOptions(), (), lambda message: None)
        return report_page(judged, scorers.scorers, live=True)


def _words(error: Exception) -> str:
    known = isinstance(error, GradeschoolError)
    return str(error) if known else f"the run cannot be read ({type(error).__name__}: {error})"


def _stamp(path: Path) -> tuple[int, int]:
    """Return a value that changes with the run: size of completions, times of files.

    A temporary file of the running evaluation may be gone before it is read: it is left out.
    """
    sizes, times = 0, 0
    for file in path.iterdir():
        try:
            status = file.stat()
        except OSError:
            continue
        sizes += status.st_size if file.name == COMPLETIONS_FILE else 0
        times = max(times, status.st_mtime_ns)
    return sizes, times


def _row_of(summary: RunSummary, name: str) -> dict[str, Any]:
    """Return a row of the leaderboard; its accuracy is that of the completions stored so far."""
    manifest, settings = summary.manifest, measured(summary.manifest)
    scorer = headline_scorer([manifest])
    row: dict[str, Any] = {
        "name": name,
        "model": settings.model,
        "protocol": settings.protocol,
        "dataset": settings.dataset,
        "changes": list(settings.changes),
        "answered": summary.answered,
        "planned": summary.planned,
        "failed": summary.failed,
        "scorer": scorer,
        "updated": str(manifest.get("updated", "")),
    }
    if summary.answered:
        (selected,) = choose_runs([str(summary.folder)], ReadOptions(), lambda message: None)
        score = score_table(scored_table(selected.run, [get_usable_scorer(scorer)]))
        headline = score.scorers[0]
        row |= {"accuracy": headline.accuracy, "interval": list(headline.ci95)}
    return row


def serve(viewer: RunViewer, port: int, announce: Callable[[str], None]) -> None:
    """Serve the pages until KeyboardInterrupt; announce: called with the address.

    port: 0 selects a free port. Raises InputError if the port is in use.
    """
    token = secrets.token_urlsafe(18)

    class Handler(PageHandler):
        pass

    Handler.viewer, Handler.token = viewer, token
    try:
        server = ThreadingHTTPServer((HOST, port), Handler)
    except OSError as error:
        raise InputError(f"port {port} cannot be used: {error.strerror}; give another") from error
    with server:
        announce(f"http://{HOST}:{server.server_address[1]}/{token}/")
        server.serve_forever(poll_interval=0.2)


class PageHandler(BaseHTTPRequestHandler):
    """Answers GET requests with the right token: the leaderboard, its state, and reports."""

    viewer: RunViewer
    token: str
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer one request."""
        address = urlsplit(self.path)
        token, _, name = address.path.removeprefix("/").partition("/")
        if not self._is_local() or not secrets.compare_digest(token.encode(), self.token.encode()):
            self._send(HTTPStatus.FORBIDDEN, "text/plain", "Open the address that was printed.\n")
            return
        try:
            if name == "":
                self._send(HTTPStatus.OK, "text/html", self.viewer.index())
            elif name == "state":
                body = json.dumps(self.viewer.state())
                self._send(HTTPStatus.OK, "application/json", body)
            elif name == "run":
                named = parse_qs(address.query).get("run", [])
                self._send(HTTPStatus.OK, "text/html", self.viewer.report(named))
            else:
                self._send(HTTPStatus.NOT_FOUND, "text/plain", "Page not found.\n")
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001  (the server goes on)
            self._send(HTTPStatus.NOT_FOUND, "text/plain", f"{_words(error)}\n")

    def handle(self) -> None:
        """Answer the requests of a connection, which the browser may close at any time."""
        with suppress(ConnectionError):
            super().handle()

    def _is_local(self) -> bool:
        """Return whether the request names this server, not a name that resolves to it."""
        port = self.server.server_address[1]  # type: ignore[index]
        return self.headers.get("Host") in (f"{HOST}:{port}", f"localhost:{port}")

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: a log would contain the token."""

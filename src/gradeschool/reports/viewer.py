"""The server of `gradeschool view`: the runs of a folder as local pages.

It can be reached from this machine only, and only with the token in its address. It reads run
folders and writes nothing. The pages are those of `gradeschool report`, linked from a leaderboard;
each is made from what is stored when it is loaded.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from aiohttp import web

from gradeschool.errors import GradeschoolError, InputError
from gradeschool.formats.values import ReadOptions, mapping
from gradeschool.printable import bounds
from gradeschool.reports.measured import changed_settings
from gradeschool.reports.pages import render
from gradeschool.reports.report import read_scored_runs, report_page
from gradeschool.runs.folder import RunSummary, find_runs
from gradeschool.scoring.score import score_run
from gradeschool.scoring.sources import choose_runs
from gradeschool.scoring.table import ScoredTable, scorer_for

HOST = "127.0.0.1"
MOST_RUNS = 12  # maximum number of runs on one page
RUN_FILES = ("run.json", "completions.jsonl", "results.json")  # what a row is made from
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
        self.runs()

    def runs(self) -> dict[str, Path]:
        """Return the run folders by name: their path below the folder, without links."""
        return {path.relative_to(self.folder).as_posix(): path for path in find_runs(self.folder)}

    def _require_inside(self, path: Path) -> None:
        """Raise InputError if a file of a run is a link to a place outside of the folder."""
        inside = self.folder.resolve()
        for file in path.iterdir():
            if file.is_symlink() and file.exists() and not file.resolve().is_relative_to(inside):
                raise InputError(f"{file.name} is a link to a place outside of the folder; copy "
                                 "the file")  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        """Return one row of the leaderboard for each run, by name.

        The row of a run that cannot be read has the reason; a run that vanishes meanwhile has none.
        """
        rows = []
        for name, path in self.runs().items():
            try:
                self._require_inside(path)
                stamps = ((file, file.stat()) for file in map(path.joinpath, RUN_FILES)
                          if file.exists())  # fmt: skip
                stamp = tuple((file, at.st_mtime_ns, at.st_size) for file, at in stamps)
                row = {"name": name, **_row_of(path, stamp)}
            except Exception as error:  # noqa: BLE001  (one run must not hide the others)
                row = {"name": name, "error": _words(error)}
            if path.exists():
                rows.append(row)
        return rows

    def index(self) -> str:
        """Return the page with the leaderboard, the most accurate run first."""
        runs = sorted(self.rows(), key=lambda row: (-row.get("accuracy", -1.0), row["name"]))
        title = f"All runs in {self.folder.resolve().name}/"
        return render("board.html", title, "gradeschool view", live=True, runs=runs)

    def report(self, names: Sequence[str]) -> str:
        """Return the report page of runs by name; raises InputError for unknown or too many."""
        runs, chosen = self.runs(), list(dict.fromkeys(names))
        if len(chosen) > MOST_RUNS:
            raise InputError(f"at most {MOST_RUNS} runs on one page; {len(chosen)} are selected")
        if not chosen or any(name not in runs for name in chosen):
            raise InputError(f"no such runs: {', '.join(map(repr, chosen)) or 'none is named'}")
        for name in chosen:
            self._require_inside(runs[name])
        specs = [str(runs[name]) for name in chosen]
        judged, scorers = read_scored_runs(specs, ReadOptions(), (), lambda message: None)
        return report_page(judged, scorers.scorers, live=True)


def _words(error: Exception) -> str:
    known = isinstance(error, GradeschoolError)
    return str(error) if known else f"the run cannot be read ({type(error).__name__}: {error})"


@lru_cache(1000)
def _row_of(path: Path, stamp: object) -> dict[str, Any]:
    """Return a row of the leaderboard; its accuracy is that of the completions stored so far.

    stamp: of the run's files; with another one, they are read again. percent: the accuracy as it is
    shown; its bounds if the scorer fails on some texts.
    """
    summary = RunSummary(path)
    manifest = summary.manifest
    row: dict[str, Any] = {
        "model": str(manifest.get("model") or ""),
        "protocol": str(mapping(manifest.get("protocol")).get("name") or ""),
        "dataset": str(mapping(manifest.get("dataset")).get("name") or ""),
        "changes": changed_settings(manifest),
        "answered": summary.answered,
        "planned": summary.planned,
        "failed": summary.failed,
        "percent": "–",
        "interval": [],
    }
    if summary.answered:
        (selected,) = choose_runs([str(path)], ReadOptions(), lambda message: None)
        table = ScoredTable(selected, [scorer_for([manifest])])
        headline = score_run(table).scorers[0]
        if headline.judged:
            shown = bounds(headline.accuracy_bounds or [headline.accuracy], between=" to ")
            row |= {"accuracy": headline.accuracy, "percent": shown, "interval": headline.ci95}
    return row


def serve(viewer: RunViewer, port: int, announce: Callable[[str], None]) -> None:
    """Serve the pages until KeyboardInterrupt; announce: called with the address.

    port: 0 selects a free port. Raises InputError if the port is in use.
    """
    token, hosts = secrets.token_urlsafe(18), set[str]()

    async def answer(request: web.BaseRequest) -> web.Response:
        """Answer a GET request; its host must be this server, not a name that resolves to it."""
        given, _, page = request.path.removeprefix("/").partition("/")
        is_known = request.method == "GET" and request.host in hosts
        status, kind = 200, "text/html"
        try:
            if not is_known or not secrets.compare_digest(given.encode(), token.encode()):
                status, kind, text = 403, "text/plain", "Open the address that was printed.\n"
            elif page == "":
                text = await asyncio.to_thread(viewer.index)
            elif page == "run":
                text = await asyncio.to_thread(viewer.report, request.query.getall("run", []))
            else:
                raise InputError("there is no such page")
        except Exception as error:  # noqa: BLE001  (the server goes on)
            status, kind, text = 404, "text/plain", f"{_words(error)}\n"
        body = text.encode("utf-8", "backslashreplace")
        return web.Response(
            status=status, body=body, content_type=kind, charset="utf-8", headers=HEADERS
        )

    async def run() -> None:
        log = logging.getLogger(__name__)
        log.disabled = True  # it would contain the token
        handler = web.Server(answer, logger=log, access_log=None)
        try:
            server = await asyncio.get_running_loop().create_server(handler, HOST, port)
        except OSError as error:
            raise InputError(
                f"port {port} cannot be used: {error.strerror}; give another"
            ) from error
        bound = server.sockets[0].getsockname()[1]
        hosts.update((f"{HOST}:{bound}", f"localhost:{bound}"))
        announce(f"http://{HOST}:{bound}/{token}/")
        await server.serve_forever()

    asyncio.run(run())

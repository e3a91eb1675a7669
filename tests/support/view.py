"""A running `gradeschool view` over two runs of the shipped sample."""

import http.client
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from gradeschool import evaluate
from tests.support.command import SCRIPT

SECONDS = 30


class View(NamedTuple):
    """A running `gradeschool view`: its folder and its address."""

    folder: Path
    address: str

    def get(self, path: str, host: str = "") -> tuple[int, str, dict[str, str]]:
        """Return status, body and headers of a path below the token, or of "/..." itself."""
        parts = urlsplit(self.address)
        connection = http.client.HTTPConnection(parts.netloc, timeout=SECONDS)
        whole = path if path.startswith("/") else f"{parts.path}{path}"
        connection.request("GET", whole, headers={"Host": host} if host else {})
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, body, dict(response.getheaders())


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[View]:
    """A server over two runs of the shipped sample; it says nothing but "stopped" on stderr."""
    folder = tmp_path_factory.mktemp("view") / "runs"
    for style in ("chat", "cot"):
        evaluate(f"recorded/sample#handwritten/{style}", dataset="sample", output=folder / style)
    server = subprocess.Popen(
        [SCRIPT, "view", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert server.stdout
    address = server.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    try:
        yield View(folder, address)
    finally:
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=SECONDS)
    assert (server.returncode, out, err) == (0, "", "stopped\n")

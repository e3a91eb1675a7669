"""Connections by https: a server is trusted where the system trusts it."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.support.command import run_script
from tests.support.fault_server import write_sums

ANSWER = {"choices": [{"message": {"content": "#### 0"}, "finish_reason": "stop"}]}


class Answers(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("there is no openssl to make a certificate with")
    path = tmp_path / "certificate.pem"
    options = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=here"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(path), "-out", str(tmp_path / "public.pem")]
    subprocess.run([program, *options, *names, *files], check=True, capture_output=True)
    path.write_text(path.read_text() + (tmp_path / "public.pem").read_text())
    return path


@pytest.fixture
def url(certificate: Path) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@pytest.mark.slow
def test_a_server_is_trusted_where_the_system_trusts_it_and_nowhere_else(
    url: str, certificate: Path, tmp_path: Path
) -> None:
    problems = write_sums(tmp_path / "problems.jsonl", 1)
    asked = ["eval", "-m", f"{url}/m", "-d", problems, "-o", tmp_path / "run"]
    refused = run_script(*asked)
    assert refused.status == 2
    assert "no trusted connection to https://127.0.0.1" in refused.err
    trusted = run_script(*asked, SSL_CERT_FILE=str(certificate))
    assert (trusted.status, trusted.err.count("Traceback")) == (0, 0)
    assert "1 of 1 samples" in trusted.out

"""A stand-in for the Hugging Face hub: the HTTP calls of uploads and downloads."""

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.support.command import CommandResult, run_script
from tests.support.http_server import API_ROOT, serve

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_standInTokenThatNobodyMaySee01"
READ_TOKEN = "hf_tokenThatMayOnlyReadNothingElse"
LFS_ENDINGS = (".parquet", ".eval", ".zip")  # stored as large files, as the hub does
FILE = "/{prefix:(datasets/)?}{owner}/{name}"


@dataclass
class Repository:
    """One repository on the hub."""

    kind: str
    private: bool
    files: dict[str, bytes] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)


@dataclass
class Hub:
    """The state of the stand-in; failing: paths with one of these parts answer 503."""

    url: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    failing: tuple[str, ...] = ()

    def run(self, *words: object, home: Path, token: str = TOKEN) -> CommandResult:
        """Run a command in a process of its own, for huggingface_hub reads variables on import.

        Without Xet, whose protocol is that of a compiled library, large files go through LFS.
        """
        variables = {"HF_ENDPOINT": self.url, "HF_TOKEN": token, "HF_HOME": str(home / "hf"),
                     "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}  # fmt: skip
        result = run_script(*words, **variables)
        assert not any(secret in result.out + result.err for secret in (TOKEN, READ_TOKEN))
        assert "Traceback" not in result.err
        return result

    def application(self) -> web.Application:
        """Return the application that answers."""
        app = web.Application(middlewares=[self.guard], client_max_size=2**26)
        add = app.router.add_route
        add("POST", "/api/repos/create", self.create)
        add("GET", "/api/{kind}s/{owner}/{name}", self.info)
        add("GET", "/api/{kind}s/{owner}/{name}/revision/{revision}", self.info)
        add("POST", "/api/{kind}s/{owner}/{name}/preupload/main", self.preupload)
        add("POST", "/api/{kind}s/{owner}/{name}/commit/main", self.commit)
        add("*", f"{FILE}/resolve/{{revision}}/{{path:.+}}", self.resolve)
        add("POST", f"{FILE}.git/info/lfs/objects/batch", self.batch)
        add("PUT", "/storage/{oid}", self.store)
        return app

    @web.middleware
    async def guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Refuse requests without the token, and record the calls."""
        self.calls.append(f"{request.method} {request.path}")
        if any(part in request.path for part in self.failing):
            return web.json_response({"error": "the hub is in trouble"}, status=503)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if request.path.startswith("/storage/"):  # signed addresses get no token
            assert not token
        elif token not in (TOKEN, READ_TOKEN):
            return web.json_response({"error": "Invalid username or password."}, status=401)
        elif token == READ_TOKEN and request.method == "POST":
            return web.json_response({"error": "You may not write here"}, status=403)
        response: web.StreamResponse = await handler(request)
        return response

    def repository(self, request: web.Request) -> tuple[str, Repository]:
        """Return the name of the repository at an address, and the repository; raises 404."""
        name = "{owner}/{name}".format(**request.match_info)
        if name not in self.repositories:
            headers = {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}
            raise web.HTTPNotFound(headers=headers)
        return name, self.repositories[name]

    async def create(self, request: web.Request) -> web.Response:
        fields = await request.json()
        name = f"{fields.get('organization') or 'me'}/{fields['name']}"
        url = f"{self.url}/{'datasets/' if fields.get('type') == 'dataset' else ''}{name}"
        if name in self.repositories:
            return web.json_response({"error": "it exists", "url": url}, status=409)
        private = fields.get("private") or fields["visibility"] == "private"
        self.repositories[name] = Repository(fields.get("type", "model"), private)
        return web.json_response({"url": url, "name": name})

    async def info(self, request: web.Request) -> web.Response:
        name, repository = self.repository(request)
        files = [{"rfilename": path, "size": len(body)} for path, body in repository.files.items()]
        return web.json_response({"id": name, "sha": COMMIT, "siblings": files})

    async def preupload(self, request: web.Request) -> web.Response:
        self.repository(request)
        files = [
            {"path": file["path"], "shouldIgnore": False,
             "uploadMode": "lfs" if file["path"].endswith(LFS_ENDINGS) else "regular"}
            for file in (await request.json())["files"]
        ]  # fmt: skip
        return web.json_response({"files": files})

    async def batch(self, request: web.Request) -> web.Response:
        self.repository(request)
        objects = [
            {"oid": entry["oid"], "size": entry["size"],
             "actions": {"upload": {"href": f"{self.url}/storage/{entry['oid']}"}}}
            for entry in (await request.json())["objects"]
        ]  # fmt: skip
        return web.json_response({"transfer": "basic", "objects": objects})

    async def store(self, request: web.Request) -> web.Response:
        """Store a large file, whose name is its digest."""
        body, oid = await request.read(), request.match_info["oid"]
        assert hashlib.sha256(body).hexdigest() == oid
        self.objects[oid] = body
        return web.Response()

    async def commit(self, request: web.Request) -> web.Response:
        name, repository = self.repository(request)
        for line in (await request.text()).splitlines():
            kind, value = (entry := json.loads(line))["key"], entry["value"]
            if kind == "header":
                repository.messages.append(value["summary"])
            elif kind == "file":
                repository.files[value["path"]] = base64.b64decode(value["content"])
            elif kind == "lfsFile":
                repository.files[value["path"]] = self.objects[value["oid"]]
        place = f"{'datasets/' if repository.kind == 'dataset' else ''}{name}"
        return web.json_response(
            {"commitUrl": f"{self.url}/{place}/commit/abc", "commitOid": "abc"}
        )

    async def resolve(self, request: web.Request) -> web.Response:
        body = self.repository(request)[1].files.get(request.match_info["path"])
        if body is None:
            return web.Response(status=404, headers={"X-Error-Code": "EntryNotFound"})
        digest = hashlib.sha256(body).hexdigest()
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{digest}"', "Content-Length": str(len(body))}
        return web.Response(body=body, headers=headers)


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A running hub."""
    pytest.importorskip("huggingface_hub", reason="needs huggingface_hub, the extra hub")
    hub = Hub()
    with serve(hub.application()) as base:
        hub.url = base.removesuffix(API_ROOT)
        yield hub

"""A stand-in for the Hugging Face hub: the HTTP calls of an upload by huggingface_hub."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.support.http_server import API_ROOT, serve

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_standInTokenThatNobodyMaySee01"
READ_TOKEN = "hf_tokenThatMayOnlyReadNothingElse"
LFS_ENDINGS = (".parquet", ".eval", ".zip")  # stored as large files, as the hub does


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

    def application(self) -> web.Application:
        """Return the application that answers."""
        app = web.Application(middlewares=[self.guard], client_max_size=2**26)
        app.router.add_post("/api/repos/create", self.create)
        app.router.add_post("/api/validate-yaml", self.validate)
        app.router.add_get("/api/{kind}s/{owner}/{name}", self.info)
        app.router.add_get("/api/{kind}s/{owner}/{name}/revision/{revision}", self.info)
        app.router.add_post("/api/{kind}s/{owner}/{name}/preupload/main", self.preupload)
        app.router.add_post("/api/{kind}s/{owner}/{name}/commit/main", self.commit)
        app.router.add_route("*",
                             "/{prefix:(datasets/)?}{owner}/{name}/resolve/{revision}/{path:.+}",
                             self.resolve)  # fmt: skip
        app.router.add_post("/{prefix:(datasets/)?}{owner}/{name}.git/info/lfs/objects/batch",
                            self.batch)  # fmt: skip
        app.router.add_put("/storage/{oid}", self.store)
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

    def repository(self, request: web.Request) -> Repository:
        """Return the repository at an address; raises 404."""
        name = "{owner}/{name}".format(**request.match_info)
        if name not in self.repositories:
            headers = {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}
            raise web.HTTPNotFound(headers=headers)
        return self.repositories[name]

    async def create(self, request: web.Request) -> web.Response:
        """Create a repository; 409 if it exists."""
        fields = await request.json()
        name = f"{fields.get('organization') or 'me'}/{fields['name']}"
        url = f"{self.url}/{'datasets/' if fields.get('type') == 'dataset' else ''}{name}"
        if name in self.repositories:
            return web.json_response({"error": "it exists", "url": url}, status=409)
        self.repositories[name] = Repository(
            fields.get("type", "model"), fields.get("private") or fields["visibility"] == "private"
        )
        return web.json_response({"url": url, "name": name})

    async def info(self, request: web.Request) -> web.Response:
        """Describe a repository and its files at a commit."""
        files = self.repository(request).files
        name = "{owner}/{name}".format(**request.match_info)
        siblings = [{"rfilename": path, "size": len(body)} for path, body in files.items()]
        return web.json_response({"id": name, "sha": COMMIT, "siblings": siblings})

    async def validate(self, request: web.Request) -> web.Response:
        """Accept a card that has front matter."""
        content = (await request.json())["content"]
        return web.json_response({"errors": [], "warnings": []},
                                 status=200 if content.startswith("---\n") else 400)  # fmt: skip

    async def preupload(self, request: web.Request) -> web.Response:
        """Report which files are large."""
        self.repository(request)
        files = [
            {"path": file["path"], "shouldIgnore": False,
             "uploadMode": "lfs" if file["path"].endswith(LFS_ENDINGS) else "regular"}
            for file in (await request.json())["files"]
        ]  # fmt: skip
        return web.json_response({"files": files})

    async def batch(self, request: web.Request) -> web.Response:
        """Report the upload addresses of large files."""
        self.repository(request)
        objects = [
            {"oid": entry["oid"], "size": entry["size"],
             "actions": {"upload": {"href": f"{self.url}/storage/{entry['oid']}"}}}
            for entry in (await request.json())["objects"]
        ]  # fmt: skip
        return web.json_response({"transfer": "basic", "objects": objects})

    async def store(self, request: web.Request) -> web.Response:
        """Store a large file, whose name is its digest."""
        body = await request.read()
        assert hashlib.sha256(body).hexdigest() == request.match_info["oid"]
        self.objects[request.match_info["oid"]] = body
        return web.Response()

    async def commit(self, request: web.Request) -> web.Response:
        """Add the files of a commit."""
        repository = self.repository(request)
        for line in (await request.text()).splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "header":
                repository.messages.append(value["summary"])
            elif entry["key"] == "file":
                repository.files[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                repository.files[value["path"]] = self.objects[value["oid"]]
        path = "{owner}/{name}".format(**request.match_info)
        kind = "datasets/" if repository.kind == "dataset" else ""
        return web.json_response(
            {"commitUrl": f"{self.url}/{kind}{path}/commit/abc", "commitOid": "abc"}
        )

    async def resolve(self, request: web.Request) -> web.Response:
        """Report whether a file exists."""
        repository = self.repository(request)
        if request.match_info["path"] not in repository.files:
            return web.Response(status=404, headers={"X-Error-Code": "EntryNotFound"})
        body = repository.files[request.match_info["path"]]
        headers = {
            "X-Repo-Commit": COMMIT,
            "ETag": f'"{hashlib.sha256(body).hexdigest()}"',
            "Content-Length": str(len(body)),
        }
        return web.Response(body=body, headers=headers)


@contextmanager
def running_hub() -> Iterator[Hub]:
    """Serve a hub for the block."""
    hub = Hub()
    with serve(hub.application()) as base:
        hub.url = base.removesuffix(API_ROOT)
        yield hub

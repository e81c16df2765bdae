"""A model hub on this machine for uploads and downloads: files of commits, and a log of the tokens it received."""

import base64
import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def served():
    """The hub, with `url`, `commits` (a list of name -> bytes), `asked` (lines of requests) and `tokens`."""
    hub = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.daemon_threads = True
    hub.commits, hub.asked, hub.tokens, hub.made = [], [], set(), []
    hub.url = f"http://127.0.0.1:{hub.server_address[1]}"
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()


def commit_of(number: int) -> str:
    return hashlib.sha1(str(number).encode()).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, value=b"", status=200, **headers):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def note(self):
        self.server.asked.append(f"{self.command} {self.path}")
        self.server.tokens.add(self.headers.get("Authorization", ""))

    def do_GET(self):
        self.note()
        commits = self.server.commits
        if "/resolve/" in self.path:
            revision, name = self.path.split("/resolve/")[1].split("/", 1)
            known = {commit_of(number): files for number, files in enumerate(commits)}
            data = known.get(revision, {}).get(name.split("?")[0])
            if data is None:
                return self.reply(status=404, X_Error_Code="EntryNotFound")
            digest = hashlib.sha256(data).hexdigest()
            return self.reply(data, ETag=f'"{digest}"', X_Repo_Commit=revision)
        if self.path.startswith("/api/models/owner/gated"):
            return self.reply({"error": "Access to model owner/gated is restricted"}, 403, X_Error_Code="GatedRepo")
        if self.path.startswith("/api/models/owner/adapter"):
            sha = commit_of(len(commits) - 1)
            return self.reply({"id": "owner/adapter", "sha": sha, "siblings": [], "private": True, "tags": []})
        return self.reply({"error": "Repository not found"}, 404, X_Error_Code="RepoNotFound")

    do_HEAD = do_GET

    def do_POST(self):
        self.note()
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/api/repos/create":
            self.server.made.append(json.loads(body))
            return self.reply({"url": f"{self.server.url}/owner/adapter", "id": "owner/adapter", "name": "adapter"})
        if self.path == "/api/validate-yaml":
            return self.reply({"errors": [], "warnings": []})
        if "/preupload/" in self.path:
            files = [{**file, "uploadMode": "regular", "shouldIgnore": False} for file in json.loads(body)["files"]]
            return self.reply({"files": files})
        lines = [json.loads(line) for line in body.splitlines() if line.strip()]
        files = {
            line["value"]["path"]: base64.b64decode(line["value"]["content"]) for line in lines if line["key"] == "file"
        }
        self.server.commits.append(files)
        sha = commit_of(len(self.server.commits) - 1)
        return self.reply(
            {"success": True, "commitOid": sha, "commitUrl": f"{self.server.url}/owner/adapter/commit/{sha}"}
        )

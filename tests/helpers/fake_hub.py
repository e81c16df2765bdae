"""A model hub on this machine for downloads: files of repositories by commit, and the requests that it received."""

import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "c" * 40


@contextmanager
def served(**repositories):
    """The hub, with `url`, `repositories` (NAME of owner/NAME -> file -> bytes), `asked` and `broken` (file names)."""
    hub = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.daemon_threads = True
    hub.repositories, hub.asked, hub.tokens, hub.broken, hub.wrong = repositories, [], set(), set(), set()
    hub.url = f"http://127.0.0.1:{hub.server_address[1]}"
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, body=b"", status=200, send=None, **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:send])
        self.close_connection = send is not None

    def do_GET(self):
        self.server.asked.append(f"{self.command} {self.path}")
        self.server.tokens.add(self.headers.get("Authorization", ""))
        path = self.path.partition("?")[0]
        if path.startswith("/api/models/owner/gated"):
            return self.reply({"error": "Access to model owner/gated is restricted"}, 403, X_Error_Code="GatedRepo")
        name = path.removeprefix("/api/models").removeprefix("/owner/").split("/")[0]
        files = self.server.repositories.get(name)
        if files is None:
            return self.reply({"error": "Repository not found"}, 404, X_Error_Code="RepoNotFound")
        if "/resolve/" in path:
            file = path.split("/resolve/")[1].split("/", 1)[1]
            if file not in files:
                return self.reply(status=404, X_Error_Code="EntryNotFound")
            data, etag = files[file], hashlib.sha256(files[file]).hexdigest()
            data = data[:-1] + b"\x01" if file in self.server.wrong else data
            send = len(data) // 2 if file in self.server.broken and self.command == "GET" else None
            return self.reply(data, send=send, ETag=f'"{etag}"', X_Repo_Commit=COMMIT)
        listed = [
            {"rfilename": file, "path": file, "type": "file", "oid": "0" * 40, "size": len(data)} | self.lfs(file, data)
            for file, data in files.items()
        ]
        if "/tree/" in path:
            return self.reply(listed)
        if "/revision/absent" in path:
            return self.reply({"error": "Invalid rev id"}, 404, X_Error_Code="RevisionNotFound")
        card = {"license": "apache-2.0"}
        return self.reply({"id": f"owner/{name}", "sha": COMMIT, "siblings": listed, "cardData": card, "tags": []})

    do_HEAD = do_GET

    def lfs(self, file, data):
        digest = hashlib.sha256(data).hexdigest()
        large = {"oid": digest, "sha256": digest, "size": len(data), "pointerSize": 134}
        return {"lfs": large} if file.endswith(".safetensors") else {}

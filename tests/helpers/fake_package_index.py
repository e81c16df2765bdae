"""A package index on this machine: files by package, a log of requested paths; builds a wheel and a harmful sdist."""

import hashlib
import io
import os
import tarfile
import threading
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BACKEND = """
from pathlib import Path
Path({marker!r}).touch()
def get_requires_for_build_wheel(config_settings=None): return []
def prepare_metadata_for_build_wheel(folder, config_settings=None): raise SystemExit("built")
def build_wheel(folder, config_settings=None, metadata_directory=None): raise SystemExit("built")
"""


@contextmanager
def served(**packages):
    """The index, with `url` and `asked`; `packages`: bytes by file name, by name of the package."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            index.asked.append(self.path)
            _, kind, name, *file = self.path.split("/")
            files = packages.get(name, {})
            body = files.get(file[0] if file else "")
            if kind == "simple":
                links = (f'<a href="/files/{name}/{filename}">{filename}</a>' for filename in files)
                body = f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>".encode()
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Type", "text/html" if kind == "simple" else "application/octet-stream")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

    index = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    index.daemon_threads, index.asked = True, []
    index.url = f"http://127.0.0.1:{index.server_port}/simple"
    threading.Thread(target=index.serve_forever, args=[0.02], daemon=True).start()
    try:
        yield index
    finally:
        index.shutdown()
        index.server_close()


def pip_asks(monkeypatch, index):
    """The user's own configuration of pip: this index alone."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    own = {"PIP_INDEX_URL": index.url, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", "PIP_NO_BINARY": ":all:"}
    for name, value in {**own, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}.items():
        monkeypatch.setenv(name, value)


def sdist(name, marker):
    """A source distribution that makes the file `marker` as soon as anybody builds or looks into it."""
    texts = {
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        "backend.py": BACKEND.format(marker=str(marker)),
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
    }
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for file, text in texts.items():
            entry = tarfile.TarInfo(f"{name}-1/{file}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return content.getvalue()


def wheel(name, **members):
    """A wheel with these files, bytes by path; a `/` is written as `__`."""
    files = {path.replace("__", "/"): data for path, data in members.items()}
    files[f"{name}-1.dist-info/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n".encode()
    files[f"{name}-1.dist-info/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{name}-1.dist-info/RECORD"] = b""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return content.getvalue()


def digest(data):
    return hashlib.sha256(data).hexdigest()

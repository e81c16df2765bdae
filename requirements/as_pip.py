"""Run uv, of this Python's environment, with pip's configuration: `python requirements/as_pip.py pip install ...`.

uv does not read it. Addresses and passwords go to uv in its environment, where no list of processes shows them.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping

VARIABLES = {  # of uv, by pip's setting
    "index-url": ("UV_DEFAULT_INDEX",),
    "extra-index-url": ("UV_EXTRA_INDEX_URL",),
    "find-links": ("UV_FIND_LINKS",),
    "cert": ("SSL_CERT_FILE",),
    "client-cert": ("SSL_CLIENT_CERT",),
    "proxy": ("HTTP_PROXY", "HTTPS_PROXY"),
    "trusted-host": ("UV_INSECURE_HOST",),
    "keyring-provider": ("UV_KEYRING_PROVIDER",),
    "default-timeout": ("UV_HTTP_TIMEOUT",),
    "timeout": ("UV_HTTP_TIMEOUT",),
    "retries": ("UV_HTTP_RETRIES",),
}


def settings(listed: Iterable[str]) -> dict[str, str]:
    """Return what `pip install` goes by, of the lines of `pip config list` (`section.name='value'`)."""
    rows = [
        (*key.rsplit(".", 1), ast.literal_eval(value)) for key, _, value in (line.partition("=") for line in listed)
    ]
    later = ["global", "install", ":env:"]  # each overrules those before it
    found = sorted((row for row in rows if row[0] in later), key=lambda row: later.index(row[0]))
    return {name: value for _, name, value in found}


def variables(pip: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that tell uv the same; as pip, it takes the best of all indexes."""
    said = {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_SYSTEM_CERTS": "true"}
    for name, value in pip.items():
        words = [os.path.expanduser(word) for word in value.split()]  # noqa: PTH111 - some are addresses
        for variable in VARIABLES.get(name, ()):
            said[variable] = ("," if name == "find-links" else " ").join(words)
    return said


def main() -> int:
    listed = [sys.executable, "-m", "pip", "config", "list"]
    pip = settings(subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines())
    bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")  # pip reads these too
    told = variables({"cert": bundle} | pip if bundle else pip)
    no_index = ["--no-index"] if pip.get("no-index", "").lower() in ("1", "true", "yes", "on") else []
    uv = [sys.executable, "-m", "uv", "--quiet", "--no-config", *sys.argv[1:], "--python", sys.executable, *no_index]
    return subprocess.run(uv, env={**os.environ, **told}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

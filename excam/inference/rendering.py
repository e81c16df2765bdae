"""Render chat templates with limits, because a template is an untrusted program that may not terminate.

A loop or a huge string cannot be stopped inside this process, so templates run in a subprocess with limits on processor
time and memory: `template_sandbox.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from excam.core.exceptions import ModelInvalid

SECONDS = 5  # of processor time for all conversations; real templates take milliseconds
MEMORY = 2 << 30  # bytes of address space; Python and the library use a tenth of it
LONGEST = 1 << 20  # characters of a rendered conversation
WAIT = 300  # seconds of wall time, enough to start Python on a busy machine
SANDBOX = Path(__file__).with_name("template_sandbox.py")


@lru_cache(maxsize=64)
def render_conversations(template: str, tokens: str, conversations: tuple[str, ...]) -> tuple[str | None, ...]:
    """Return each conversation as the template renders it, None if the template refuses it or fails.

    `tokens` is JSON with special tokens by name. A conversation is JSON with `messages` (role and content), `ask`
    (whether to add the generation prompt) and `variables` of the template. Raise ModelInvalid if a limit is exceeded.
    """
    request = {
        "template": template,
        "tokens": json.loads(tokens),
        "conversations": [json.loads(conversation) for conversation in conversations],
        "limits": [SECONDS, MEMORY, LONGEST],
    }
    paths = os.pathsep.join(path or os.curdir for path in sys.path)  # find the same libraries
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-P", str(SANDBOX)]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(request),
            env=environment,
            timeout=WAIT,
            capture_output=True,
            text=True,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise ModelInvalid(f"its chat template: no end in {WAIT} s; expected one that ends") from None
    except subprocess.CalledProcessError as problem:
        limits = f"{SECONDS} s of processor time and {MEMORY >> 30} GiB of memory"
        last = (problem.stderr.strip().splitlines() or [f"ended by signal {-problem.returncode}"])[-1]
        raise ModelInvalid(f"its chat template: {last[:200]}; expected one that ends within {limits}") from None
    return tuple(json.loads(done.stdout))

"""Render chat templates with limits, because a template is an untrusted program that may not terminate.

A loop or a huge string cannot be stopped inside this process, so templates run in a subprocess with limits on processor
time and memory, by the library that defines the format. Run as a module, this file reads a request on stdin.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Any

from excam.core.exceptions import ModelInvalid
from excam.inference.loading import load_failures

SECONDS = 5  # of processor time for all conversations; real templates take milliseconds
MEMORY = 2 << 30  # bytes of address space; Python and the library use a tenth of it
LONGEST = 1 << 20  # characters of a rendered conversation
WAIT = 300  # seconds of wall time, enough to start Python on a busy machine
# The current time for templates (`strftime_now`, in Mistral Small's and Llama's). It is constant because answers would
# otherwise depend on the date.
NOW = datetime(2025, 1, 1, 12)


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
    paths = os.pathsep.join(path or os.curdir for path in sys.path)  # import the same package, however it was found
    # one thread: linear algebra libraries reserve address space per core
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-P", "-m", "excam.inference.rendering"]
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


class _FixedClock(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return NOW


def _main() -> None:
    from transformers.utils import chat_template_utils

    chat_template_utils.datetime = _FixedClock  # pyright: ignore # its clock cannot be configured otherwise
    render_jinja_template = chat_template_utils.render_jinja_template
    request = json.load(sys.stdin)
    seconds, memory, longest = request["limits"]
    _set_limit(resource.RLIMIT_CPU, int(time.process_time()) + seconds)
    _set_limit(resource.RLIMIT_AS, memory)
    _set_limit(resource.RLIMIT_CORE, 0)
    texts = [_text(render_jinja_template, request, conversation, longest) for conversation in request["conversations"]]
    print(json.dumps(texts))


def _set_limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _text(
    render: Callable[..., Any], request: dict[str, Any], conversation: dict[str, Any], longest: int
) -> str | None:
    try:
        texts, _ = render(
            conversations=[conversation["messages"]],
            chat_template=request["template"],
            add_generation_prompt=conversation["ask"],
            **request["tokens"],
            **conversation["variables"],
        )
    except load_failures():
        return None
    return texts[0] if len(texts[0]) <= longest else None


if __name__ == "__main__":
    _main()

"""A scoring server in a separate process, with a model that answers by rule.

Started by `running`; what a text holds says what becomes of it: "Sushi" is an error, "mumble" no report, "unfit" is
refused by the model, "crash" makes it fail, "slow" takes a second, and "brief" a tenth.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from small_adapters import answer

from excam.config import Model
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.inference import backend_factory, fake
from excam.scoring import metric as metrics
from excam.scoring.metric import Setup
from excam.scoring.opened_model import OpenedModel
from excam.scoring.scorer import Scorer

SECRET = "text-of-somebody"


class Ruled(fake.Backend):
    def generate(self, requests, sampling):
        texts = [request.messages[-1].content for request in requests]
        print(f"batch of {len(texts)}", file=sys.stderr, flush=True)
        if any("unfit" in text for text in texts):
            raise InputInvalid("a text that no model takes; expected another")
        if any("crash" in text for text in texts):
            raise RuntimeError(f"out of memory at {texts}")
        time.sleep(sum("slow" in text for text in texts) + sum("brief" in text for text in texts) / 10)
        yield from super().generate(requests, sampling)


class Opened(backend_factory.LazyBackend):
    def _open(self):
        if os.environ.get("SCORER_FAILS"):
            raise ModelInvalid("weights: damaged; expected others")
        time.sleep(float(os.environ.get("SCORER_LOADS", "0")))
        return Ruled(answer)


def metric() -> Scorer:
    """ExCAM with a model that answers by rule, asked as adapters are."""
    entry = Model(gpus=0, backend="transformers", licence="MIT", hub="owner/tiny")
    model = OpenedModel(Opened("tiny", entry, None, None), "model:tiny|on:rules", names=("gemma",))
    return Scorer(metrics.load("excam").prepared(Setup(model, judge="report")), model)


@contextmanager
def running(*, max_rows=8, queue=16, timeout=30.0, **environment):
    """(address, process); the address is there, and the model loaded unless `SCORER_LOADS` says how long that takes."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = json.dumps([port, max_rows, queue, timeout])
    command = [sys.executable, __file__, settings]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUNBUFFERED": "1", **environment}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            line = ""
            while not re.search("listening at", line):
                line = process.stderr.readline()
                assert line, "it ended"
            yield f"http://127.0.0.1:{port}", process
        finally:
            process.kill()


if __name__ == "__main__":
    from excam.scoring import service
    from excam.scoring.request_queue import RequestQueue

    port, max_rows, queue, timeout = json.loads(sys.argv[1])
    service.serve(RequestQueue(metric(), max_rows, queue), "127.0.0.1", port, [], timeout)

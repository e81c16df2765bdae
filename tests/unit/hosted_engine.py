"""An engine that jobs share, without a model: answers by hash, names its adapter, and does what the file `told` says.

`python hosted_engine.py IDLE TOLD --place PATH`; each start is a line of TOLD's neighbour `starts`.
"""

import os
import sys
import time
from pathlib import Path

from excam.exceptions import ModelInvalid
from excam.inference import fake, host


def late(*problem):
    """As vLLM, which has much to put away first."""
    time.sleep(0.5)
    sys.__excepthook__(*problem)


class Engine(fake.Backend):
    def __init__(self, told):
        super().__init__(lambda request: f"{self.adapter}: {fake.by_hash(request)}")
        self.told, self.adapter, self.settings = told, "base", {"device": "none"}
        with (told.parent / "starts").open("a") as starts:
            print(os.getpid(), file=starts)
        if "refuse" in told.read_text():
            raise ModelInvalid("base: vLLM cannot take it: too large; check models.*.context")

    def use(self, adapter, content):
        if adapter and "odd" in adapter.name:
            raise ModelInvalid(f"{adapter}: vLLM cannot serve this adapter")
        self.adapter = f"{adapter.name} {content}" if adapter else "base"

    def generate(self, requests, sampling):
        for batch in super().generate(requests, sampling):
            told = self.told.read_text()
            if "fail" in told:
                raise ModelInvalid("vLLM failed with 3 requests in flight")
            if "break" in told:
                sys.excepthook = late
                raise LookupError("no block 7")
            if "die" in told:
                print("CUDA error: out of memory", file=sys.stderr, flush=True)
                os._exit(1)
            time.sleep(0.05 if "slow" in told else 0)
            yield batch


idle, told, _, place = sys.argv[1:]
sys.exit(host.serve(Path(f"{place}.sock"), lambda: Engine(Path(told)), idle=float(idle)))

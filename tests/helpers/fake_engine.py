"""A shared engine without a model: answers by hash, names its adapter, and follows the orders in the file ORDERS.

`python fake_engine.py IDLE ORDERS --place PATH`; each start adds a line to the file `starts` beside ORDERS.
"""

import os
import sys
import time
from pathlib import Path

from excam.core.exceptions import ModelInvalid
from excam.inference import fake, host


def late(*problem):
    """As vLLM, which has much to put away first."""
    time.sleep(0.5)
    sys.__excepthook__(*problem)


class Engine(fake.Backend):
    def __init__(self, orders):
        super().__init__(lambda request: f"{self.adapter}: {fake.by_hash(request)}")
        self.orders, self.adapter, self.settings = orders, "base", {"device": "none"}
        with (orders.parent / "starts").open("a") as starts:
            print(os.getpid(), file=starts)
        if "refuse" in orders.read_text():
            raise ModelInvalid("base: vLLM cannot take it: too large; check models.*.context")

    def use(self, adapter, content):
        if adapter and "odd" in adapter.name:
            raise ModelInvalid(f"{adapter}: vLLM cannot serve this adapter")
        self.adapter = f"{adapter.name} {content}" if adapter else "base"

    def generate(self, requests, sampling):
        for batch in super().generate(requests, sampling):
            orders = self.orders.read_text()
            if "fail" in orders:
                raise ModelInvalid("vLLM failed with 3 requests in flight")
            if "value" in orders:
                raise ValueError("no such token")
            if "break" in orders:
                sys.excepthook = late
                raise LookupError("no block 7")
            if "die" in orders:
                print("CUDA error: out of memory", file=sys.stderr, flush=True)
                os._exit(1)
            time.sleep(0.05 if "slow" in orders else 0)
            yield batch


idle, orders, _, place = sys.argv[1:]
sys.exit(host.serve(Path(f"{place}.sock"), lambda: Engine(Path(orders)), idle=float(idle)))

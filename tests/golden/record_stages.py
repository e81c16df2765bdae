"""Record the outputs of stages as they are now: `python tests/golden/record_stages.py`, after a version was raised.

Refuses where an output changed and no version did: raise it, or undo the change. After an update of a package that
computes or draws otherwise, remove `stages.json` first; then no version is asked for.
"""

import sys
import tempfile
from pathlib import Path

import golden_stages

sys.path.insert(0, str(golden_stages.ROOT))  # of the scripts

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        now, before = golden_stages.made(Path(scratch)), golden_stages.recorded()
    if messages := golden_stages.unversioned(before, now):
        sys.exit("\n".join(messages))
    golden_stages.record(now)
    print(f"{len(now)} jobs recorded, {sum(before.get(name) != job for name, job in now.items())} of them changed")

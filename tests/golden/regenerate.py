"""Write `expected/*.json` again after a deliberate change of a rule: `python tests/golden/regenerate.py`.

Then read the diff: it is the change that users of the data set will see, and belongs under *Numbers changed*.
"""

import json

from golden_pairs import EXPECTED, files

if __name__ == "__main__":
    EXPECTED.mkdir(exist_ok=True)
    kept = set()
    for path, content in files():
        path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        kept.add(path)
    for path in set(EXPECTED.glob("*.json")) - kept:
        path.unlink()

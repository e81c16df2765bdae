"""Write `expected/*.json` again after a deliberate change of a rule: `python tests/golden/regenerate.py`.

Then read the diff: it is the change that users of the data set will see, and belongs under *Numbers changed*.
"""

from golden_pairs import EXPECTED, NAMES, content

if __name__ == "__main__":
    texts = {EXPECTED / f"{name}.json": content(name) for name in NAMES}
    for path in EXPECTED.glob("*.json"):
        path.unlink()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")

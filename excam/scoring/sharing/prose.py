"""What a card says in words, whatever the adapter."""

from __future__ import annotations

UNKNOWN = "Unknown: the training rows are not stored with the adapter."
NOT_MEASURED = (
    "This adapter comes without an evaluation. Measure it on texts that people have judged before you trust it."
)

USES = """## What it is for

To find passages that may get a culture wrong, so that a person looks at them; to compare systems on the same
instructions, with intervals; to watch whether a change made texts worse. A score below 0 is the sum of the errors found
(minor -1, major -5), else the length-normalised probability of the report, in (0, 1].

Not for: ranking, hiring or judging persons; deciding alone what is published or removed; saying what a culture is;
texts whose errors have nothing to do with culture; comparing scores whose signatures differ."""

BASE = """## Its base model

{base}. It is not part of this repository, and has its own licence. `excam` compares its files with the sha256 in
`base.json` before it is used.

```bash
excam pull SOURCE here --base recorded     # or --base FOLDER, where you have its files already
excam score texts.jsonl --adapter here
```"""

LANGUAGES = """## Languages

{languages} It learnt nothing in any other language; its verdicts there carry a warning, and deserve it."""

LEDGER = """## Licences of what it learnt from

{table}

Whether weights are an adapted work of their training data is an open question, and this table no legal advice. Who
needs an adapter without share-alike and non-commercial rows trains on the mixture `permissive`."""

NUMBERS = """## What it measured

On test rows of the run it comes from. 0 is chance and a metric that always says the same, 1 is never wrong; a row that
was not judged counts as wrong.

{table}"""

LIMITS = """## What a score cannot say

- Right is what a majority in a country said to a survey, or what a benchmark's annotators agreed on. Minorities within
  a country, and change over time, are errors to it.
- It is a language model that judges language models: it favours texts like its own, and knows what its base knows.
- How severe an error is, people do not agree on either.
- An explanation is plausible; it need not be why the verdict came about.
- An error that the instruction asked for on purpose still counts, and so does one in the instruction.
- Most wrong rows of its training were made by machine; such errors are more alike than those of people.
- Texts can be offensive, and so can reports about them, which quote them."""

"""The texts that the card of every build contains."""

from __future__ import annotations

from collections.abc import Mapping

PAPERS_GENERATOR = "Qwen3.5-122B-A10B"

ABOUT = """Pairs of an instruction and an output, right and wrong in equal parts, about customs, food, festivals,
opinions and norms of many cultures. Each wrong row comes with a gold report: which words are a cultural error, how
severe it is, of what type, and why. The pairs train and test metrics that judge whether a text gets a culture right."""

EMPTY = """No dataset of this experiment is under a permissive licence, which asks for attribution at most (such as
Apache-2.0, CC-BY-4.0, MIT), so this build holds no rows. The build `all` has the others, each under its own licence."""

NOT_OFFICIAL = """**A rebuild, not the authors' release.** It follows the recipe of the paper *ExCAM: Explainable
Cultural Awareness Metrics* with our own code and templates; the rows are not those of the paper."""

LEXICON = """**Soft errors were written by `lexicon`, not by the paper's generator.** The paper asked a language
model (Qwen3.5-122B-A10B); here a program exchanged listed words of the right answer by rule; both versions share the
instruction. It leaves out a row if the answer names no culture that it knows, if it has no words for the language, or
if no word can be exchanged grammatically. Such errors are easier and more alike. Do not compare numbers on them
with the paper's."""

WRITERS = "**Soft errors were written by {writers}** (the paper's generator: {paper})."

LOCAL = """**Read from local folders, not from the official release:** {names}. It was not checked whether these
rows are the official ones. The licence stated is that of the official release."""

WITHHELD = "**Not in it:** {names}. The licence allows no changed version to be passed on, and these rows are one."

OFFENSIVE = "**Offensive content.** Wrong rows are wrong on purpose; see the section on it below."

LICENCE_DETAILS = (
    "Every shard is under the licence of the benchmark it was made from: the name of its folder, and the column "
    "`licence` of every row. The collection as a whole has no licence of its own."
)

TASKS = """Tasks: *qa*, a question with lettered options; *freeform*, a question without letters; *generation*, a text
on a topic; *impersonation*, answering in the role of a person or country. Most multiple-choice questions are there as
*qa* and as *freeform*: without any options, or with them in brackets if several answers may be right."""

LANGUAGES = "Languages of the content: {names}."

LOADING = """From this folder, without a network:

```python
from datasets import load_dataset

rows = load_dataset("path/to/this/folder", "{config}")
print(rows["test"][0]["errors"])
```

There is one configuration per dataset and one per licence, and no default: to choose one is to accept its licence."""

SCORE = """`score` is the sum over `errors` of -1 for minor and -5 for major. In a soft row the number of errors is
the number of changed places. `text[start:end]` is the span in the text that `where` names; where words were deleted,
the neighbouring word is marked."""

MAKING = """1. **Rows of benchmarks** that people have verified count as right; their report is empty.
2. **Wrapping.** Each becomes an instruction and an output by templates, 50 paraphrases to choose from (12 in another
   language than English), used equally often.
3. **Hard errors**, where a benchmark has options: a wrong option takes the place of the right answer (for irony, the
   other label), one that is right elsewhere where there is one. One error, major unless the wrong opinion is near to
   the right one; the explanation is a template that names the right answer.
4. **Soft errors**, where it has none: a generator is asked to build minor and, a second time, major cultural errors
   into the pair. Its answers are read, compared word by word with the original, and the changed places become the
   spans. Answers that cannot be read, change nothing or are not about a culture are dropped with their right row.
   Training rows that are too long for a model that the workflow trains are left out before.
5. **Pairs.** Every wrong row has exactly one right row with the same templates, so that no template predicts
   the label.

The recipe is a Snakemake workflow, one rule per step; `manifest.json` beside this card names its version, commit and
the hash of every input. `docs/reading-the-paper.md` there lists what the paper leaves open and what was
chosen."""

COUNTS = "The paper's printed numbers are beside ours in `results/paper/table-2.md` of the workflow."

CHANGES = """Readers changed these rows of the benchmarks before templates were filled. White space around a text, and
a benchmark's own prompt around a question, are no part of it. `construction.rows: as-published` applies no rule."""

SPLITS = """Train, dev and test hold complete groups of base rows: a row, the other row of its pair, its other
forms and the rows its source relates to it are always in one split. `in_test_100` marks a balanced part of the
test split. Leave-one-out training uses the train splits of all datasets but one. Sources overlap in what they ask:
the recipe lists near-duplicates across benchmarks in its audit `leaks` and in `near-duplicates.csv`. Its own
mixtures leave out training rows that are nearly the same as a row of another benchmark's dev or test split; the
train splits here still hold them."""

AUDITS = """The summary of the workflow's audits, of all datasets of the experiment this build was made in, also
those that are not in this build."""

LIMITS = """- **Majority opinion.** A right answer is often what most people of a country say. Another opinion is not
  wrong.
- **Countries are not cultures.** Culture is a country, a region, or a language if the source gives no more.
- **Severity is subjective**: fixed for hard errors; for soft ones the severity requested, or the one the generator
  stated if `construction.severity` of the experiment is `stated`. `stated_severity` holds what it stated; the actual
  severity may be neither.
- **Explanations are plausible, not faithful**: templates, or a generator's words. They were not checked one by one.
- **Benchmarks contain errors**, and a row that they call right counts as right here. They also become outdated.
- **Knowledge.** A metric tuned on these rows knows only the cultures in them and those its base model knows; it may
  also favour texts of its own model family.
- **Errors on purpose.** An instruction that asks for something culturally wrong counts as wrong too.
- **Stories (NormAd)**: how a story is told often tells the verdict on it: its words with the answer, without other
  knowledge, tell right rows from wrong ones at a scaled accuracy of about .64 (the view "instruction with the answer"
  of the audits). The country alone tells nothing.
- **Irony (EPIC)**: the label is one annotator's."""

VOTES = """- **One annotator's label ({title})**: of {base_samples} base rows, most other annotators of the same text
  gave the other label for {with_fewer}, and half of them for {with_half}. A judge that followed their vote would reach
  a scaled accuracy of {vote_of_others}; `agreement` is the share of the others who agree, `asked` how many they are."""

LICENCES = """Each shard keeps the licence of its source, unchanged. The collection is never licensed as a whole: no
licence would allow it."""

KINDS: Mapping[str, str] = {
    "permissive": "may be used together, and with shards of any one other group, where the sources are named.",
    "share-alike": "what you make of them must be passed on under the same licence. Not together with the "
    "non-commercial group, or with rows under another licence of this group, in one adapted work: two such licences "
    "demand different terms for the same work.",
    "non-commercial share-alike": "no commercial use, and what you make of them must be passed on under the same "
    "licence. Not together with the share-alike group in one adapted work.",
    "non-commercial": "no commercial use; may be used together with the permissive group.",
    "unrestricted as stated": "the terms are stated by the experiment, not by the list of SPDX: read them before use.",
    "unknown terms": "read the terms before use.",
    "unknown": "read the terms before use.",
}

QUOTED = "An example row in this card is under the licence of its dataset."

CITING = "Cite the benchmarks you use, and the paper whose recipe this is:"

"""Kinds of changes of a finished run, one or two cases of each, and what must run in words."""

from mutations import Case, all_of, config, edited, flipped, lost, model, moved_away, raised, touched

PHI, GEMMA, PHI4 = "phi3-medium-4k", "gemma3-27b", "phi4"
CELL = f"results/evaluation/{GEMMA}/without-blend/report/blend/test.json"
TRACKED = (
    "mini", "paper", "requirements", "excam", "scripts", "rules", "envs", "report", "profiles", "experiments", "tests",
    "Snakefile", "config.yaml", "README.md", "pyproject.toml",
)  # fmt: skip
JUDGE = "excam/error_reports/judges/count.py"
REFACTORED = all_of(  # a rename, a new optional field of a shared record, a citation
    edited("excam/stats/accuracy.py", "right = is_correct(", "hits = is_correct("),
    edited("excam/stats/accuracy.py", "share_interval(right, None", "share_interval(hits, None"),
    edited("excam/error_reports/records.py", '    thinking: str = ""', '    note: str = ""\n    thinking: str = ""'),
    edited("excam/excam40k/datasets/blend.py", "Myung et al. 2024.", "Myung et al. (2024)."),
)  # fmt: skip
PROSE = all_of(
    edited("scripts/judging.py", "    samples = [sample", "    # why\n    samples = [sample"),
    edited(JUDGE, "Ask once.", "Ask one time."),
    edited("rules/judging.smk", "rule verify_adapter:", "# why\nrule verify_adapter:"),
)

# fmt: off
SECTIONS = {
    "The configuration": [
        Case("nothing", "nothing"),
        Case("`seed`", "all that draws or samples: everything from `build_samples` on", config(seed=1)),
        Case("`datasets.blend.cap`", "BLEnD from `build_samples` on", config(datasets={"blend": {"cap": 20}})),
        Case("`construction.subset`", "the balanced subsets, audits, trivial baselines, and the external judge; nothing is trained", config(construction={"subset": 4})),
        Case("`training.learning_rate`", "adapters, and what is judged with them", config(training={"learning_rate": 2e-3})),
        Case("one base model's recipe", "its adapters; not the other's", model(GEMMA, training={"rank": 16})),
        Case("one baseline's decoding", "its answers, and Table 6", model(PHI4, sampling={"max_tokens": 512})),
        Case("`models.*.gpus`; a server's price, pace and timeout", "nothing", config(models={PHI4: {"gpus": 2}, "gpt5": {"server": {"concurrency": 2, "timeout": 30, "price": {"prompt": 2.0, "completion": 3.0}}}})),
        Case("`scoring.end_token`", "answers are read again, none is asked for", config(scoring={"end_token": False})),
        Case("a baseline removed", "the pages that showed it; no model is asked", config(baselines={"models": [GEMMA]})),
        Case("a data set removed", "every mixture and adapter; of baselines the pages that showed it, no model is asked", config(datasets={"normad": None})),
    ],
    "Code, prompts and templates": [
        Case("a refactoring: a rename, a new optional field of a shared record, a citation", "nothing; planning names the edited files", REFACTORED),
        Case("comments, docstrings", "nothing", PROSE),
        Case("a judge's prompt, `asks` raised", "its answers are asked for again, and Table 11", all_of(edited(JUDGE, "VERY BRIEFLY", "BRIEFLY"), raised(JUDGE, "asks="))),
        Case("a judge's parser, `reads` raised", "its answers are read again, none is asked for", all_of(edited(JUDGE, '"COUNT"', '"Count"'), raised(JUDGE, "reads="))),
        Case("a template of multiple choice, its version raised", "BLEnD from `build_samples` on, the only multiple choice", raised("excam/excam40k/templates/qa/version.txt", "")),
        Case("the reader of one benchmark (`normad`), `VERSION` raised", "NormAd from `build_samples` on", raised("excam/excam40k/datasets/normad.py", "VERSION = ")),
        Case("a backend (`vllm`), `VERSION` raised", "all that a vLLM model answers: soft errors too", raised("excam/inference/backends/vllm.py", "VERSION = ")),
        Case("a page (`table_2`), its version raised", "it, the claims", raised("scripts/excam40k.py", "version=", ",\n    result=\"results/paper/table-2\"")),
        Case("an option of a rule (`score`)", "answers are read again", edited("scripts/judging.py", 'settings={"end_token": "end_token"}', 'settings={"end_token": "end_token", "seed": "seed"}')),
        Case("memory and time of a rule (`judge`)", "nothing", edited("rules/step_files.smk", "else 10)", "else 480)")),
    ],
    "Files, places, losses": [
        Case("one source row of BLEnD", "BLEnD from `fetch_source` on", edited("mini/blend/mc_questions.csv", "A. manat", "A. manats")),
        Case("the printed Table 2", "Table 2, the claims", edited("paper/table-2.csv", "\n", "\n\n")),
        Case("an annotator's exported file", "answers, their tables, the claims", edited("tests/workflow/exports/ada.json", "[]", "[ ]")),
        Case("an environment (`envs/data.yaml`)", "nothing, unless Snakemake is to build it (3)", edited("envs/data.yaml", "- pip\n", "- pip>=20\n")),
        Case("`--profile slurm`", "nothing", profile="slurm"),
        Case("a new clone, `results/` and `.snakemake/` copied with their times", "nothing", touched(*TRACKED)),
        Case("a new clone, `results/` copied without `.snakemake/`", "what is made of files of the clone, by their times: copy `.snakemake/` too", all_of(moved_away(".snakemake"), touched(*TRACKED)), whole=True),
        Case("a lost figure (`figure-3.pdf`)", "it, the claims", lost("results/paper/figure-3.pdf"), whole=True),
        Case("an edited cell, with its new time", "what is made of it, and not the cell itself; `excam audit` names it (4)", flipped(CELL), whole=True),
        Case("nothing is there, one leave-one-out cell is asked for", "its chain: of the left-out data set nothing is learnt, of other systems nothing is asked", all_of(moved_away("results"), moved_away(".snakemake")), targets=(CELL,), whole=True),
        Case("`-R train_adapter` for that cell", "its chain from there on", targets=(CELL,), words=("-R", "train_adapter")),
    ],
}
# fmt: on
CASES = [case for cases in SECTIONS.values() for case in cases]

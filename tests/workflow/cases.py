"""The table of the staleness test: each mutation of a finished run, and the jobs that must run (spec 83, 85)."""

from __future__ import annotations

from dataclasses import replace

from design import Jobs, some
from mutations import (
    ALL,
    GEMMA,
    GPT,
    LEFT_OUT,
    PHI,
    PHI4,
    PLAIN,
    SMALL,
    WIDE,
    Case,
    M,
    both,
    bumped,
    config,
    edited,
    flipped,
    lost,
    model,
    moved_away,
    touched,
)

NOTHING = some()
DATA = SMALL.samples("blend", "normad")
TRAINED = SMALL.adapters("all", "without-blend")
ASKED = SMALL.answers(*SMALL.systems)
READ = SMALL.read(*SMALL.systems)
ALL_JOBS = some(
    SMALL.source("blend", "normad"), f"fetch_model {M}", "fetch_model minilm", "table_6", "table_10", "table_prompts"
)
WEIGHTS = some(f"fetch_model {M}", SMALL.tokens("blend", "normad"), TRAINED, ASKED)
CELL = f"results/evaluation/{LEFT_OUT}/blend/test.json"
ASKING = some(f"judge {LEFT_OUT}/test", f"score {LEFT_OUT}/blend/test", f"evaluate {LEFT_OUT}/blend/test")
TRAINING = some(f"train_adapter {M}/without-blend", f"verify_adapter {M}/without-blend", ASKING)
FROM_NOTHING = some(
    *(f"{rule} {name}" for rule in ("fetch_source", "build_samples", "split_samples") for name in SMALL.datasets),
    *("make_hard_errors blend", "collect_soft_errors normad", "find_near_duplicates", f"fetch_model {M}"),
    *(f"generate_soft_errors normad/{severity}/{shard}" for severity in ("minor", "major") for shard in ("00", "01")),
    *("mix_samples without-blend/train", f"tokenize_samples {M}/normad/train"),
    TRAINING,
)
TRACKED = (
    *(
        "mini",
        "paper",
        "requirements",
        "excam",
        "scripts",
        "rules",
        "envs",
        "report",
        "profiles",
        "experiments",
        "tests",
    ),
    *("Snakefile", "config.yaml", "README.md", "pyproject.toml"),
)

# fmt: off
CONFIGURATION = [
    Case("`seed`", "all that draws or samples: everything from `build_samples` on", DATA, config(seed=1)),
    Case("`datasets.blend.cap`", "BLEnD from `build_samples` on", SMALL.samples("blend"), config(datasets={"blend": {"cap": 20}})),
    Case("`datasets.blend.cap` and `seed` swapped", "everything from `build_samples` on", DATA, config(seed=40, datasets={"blend": {"cap": 20260401}})),
    Case("`construction.allocation`", "everything from `build_samples` on", DATA, config(construction={"allocation": "proportional"})),
    Case("`construction.cap_stage`", "everything from `build_samples` on", DATA, config(construction={"cap_stage": "before"})),
    Case("`construction.shares`", "everything from `build_samples` on", DATA, config(construction={"shares": {"train": 0.6, "dev": 0.2, "test": 0.2}})),
    Case("`construction.severity`", "soft errors from `collect_soft_errors` on; no generator is asked", SMALL.collected("normad"), config(construction={"severity": "stated"})),
    Case("`construction.spans`", "the same", SMALL.collected("normad"), config(construction={"spans": "paper"})),
    Case("`construction.subset`", "the balanced subsets, what audits and publishes them, floors; nothing is trained", SMALL.subsets("blend", "normad"), config(construction={"subset": 4})),
    Case("`generation.shards`: 3 for 2", "soft errors and, as far as a plan can know, what is made of them (1)", replace(SMALL, shards=3).errors("normad"), config(generation={"shards": 3})),
    Case("`training.learning_rate`", "adapters, and what is judged with them", TRAINED, config(training={"learning_rate": 2e-3})),
    Case("`training.beta1` and `training.beta2` swapped", "the same", TRAINED, config(training={"beta1": 0.95, "beta2": 0.9})),
    Case("`training.seed`", "the same", TRAINED, config(training={"seed": 3})),
    Case("`training.rows`", "the same, from `mix_samples` on", SMALL.mixed("all", "without-blend"), config(training={"rows": 12})),
    Case("`training.save_steps`", "nothing", NOTHING, config(training={"save_steps": 5})),
    Case("`training.report_to`", "nothing", NOTHING, config(training={"report_to": "tensorboard"})),
    Case("`training.layout`: one that pads rows otherwise", "nothing", NOTHING, both(lambda copy: copy.write("excam/training/layouts/mine.yaml", copy.read("excam/training/layouts/cpu.yaml").replace(b"rows_per_pass: 2", b"rows_per_pass: 1")), config(training={"layout": "mine"}))),
    Case("`models.*.sampling.max_tokens`", "every answer; no adapter needs a new proof", ASKED | {"table_6"}, model(M, sampling={"max_tokens": 16})),
    Case("`models.*.context`", "every answer, and the proof that adapters are at work", ASKED | SMALL.verified(ALL, LEFT_OUT), model(M, context=2048)),
    Case("`models.*.gpus`", "nothing", NOTHING, model(M, gpus=2)),
    Case("`models.*.licence`", "the manifest of the weights, and all that names it (2)", WEIGHTS, model(M, licence="MIT")),
    Case("`scoring.end_token`", "answers are read again, none is asked for", READ, config(scoring={"end_token": False})),
    Case("`similarity.model: null`", "nothing: its pages are no longer asked for", NOTHING, config(similarity={"model": None})),
]

AXES = [
    Case("a data set added (`mango`)", "it, every mixture, every system; of the others nothing before `mix_samples` and `judge`", replace(SMALL, soft=("mango", "normad")).source("mango"), config(datasets={"mango": {"folder": "mini/mango"}})),
    Case("a mixture added (`without-normad`)", "its adapter and answers, and the pages that show them", replace(SMALL, mixtures=("all", "without-blend", "without-normad")).mixed("without-normad"), config(tuned={"mixtures": ["all", "without-blend", "without-normad"]})),
    Case("a mixture removed (`without-blend`)", "pages that showed it", some("audit_leaks", SMALL.published(), f"figure_losses {M}", "compare_systems blend/test", "figure_3", "table_4", "table_reports", SMALL.changes()), config(tuned={"mixtures": ["all"]})),
    Case("a judge added (`severity`)", "its answers, and the pages that show them", replace(SMALL, plain=(PLAIN, f"{M}/nothing/severity")).answers(f"{M}/nothing/severity"), config(baselines={"judges": ["count", "severity"]})),
]

CODE = [
    Case("a judge's reader, edited (`count`)", "until `excam lock` is told: its answers are asked for again, and Table 11", SMALL.answers(PLAIN) | {"table_prompts"}, edited("excam/judges/count.py", 'stated("COUNT"', 'stated("Count"')),
    Case("the same, then `excam lock judges.count` and `excam lock --same-output`", "its answers are read again, none is asked for", SMALL.read(PLAIN), edited("excam/judges/count.py", 'stated("COUNT"', 'stated("Count"', "lock judges.count", "lock --same-output")),
    Case("a prompt (`count`), then `excam lock`", "its answers are asked for again, and Table 11", SMALL.answers(PLAIN) | {"table_prompts"}, edited("excam/judges/count.py", "VERY BRIEFLY", "BRIEFLY", "lock")),
    Case("the prompt of reports, then `excam lock`", "tokens, adapters, their answers, and Table 5", SMALL.tokens("blend", "normad") | {"table_prompts"}, edited("excam/judges/report.py", "Please judge", "Judge", "lock")),
    Case("a template of multiple choice, then `excam lock`", "BLEnD from `build_samples` on, the only multiple choice", SMALL.samples("blend"), edited("excam/templates/qa/instruction.txt", "\n", "!\n", "lock")),
    Case("a template of explanations, then `excam lock`", "hard errors, and what is made of them", SMALL.errors("blend"), edited("excam/templates/hard/explanation.txt", "\n", "!\n", "lock")),
    Case("a template of generation", "nothing: no data set of the run is wrapped in it", NOTHING, edited("excam/templates/generation/instruction.txt", "\n", "!\n")),
    Case("the reader of one benchmark (`normad`), then `excam lock`", "NormAd from `build_samples` on", SMALL.samples("normad"), edited("excam/datasets/normad.py", "\n\n\ndef read", "\n\nMORE = 1\n\n\ndef read", "lock")),
    Case("the licence of a benchmark (`normad`), then `excam lock`", "its manifest and its rows, which both name it, and what is made of them", SMALL.source("normad"), edited("excam/datasets/normad.py", "CC-BY-4.0", "CC-BY-3.0", "lock")),
    Case("a refactoring of `scripts/score.py`, before `excam lock`", "answers are read again", READ, edited("scripts/score.py", "samples = tables", "rows = samples = tables")),
    Case("the same, then `excam lock score --same-output`", "nothing", NOTHING, edited("scripts/score.py", "samples = tables", "rows = samples = tables", "lock score --same-output")),
    Case("the same, then `excam lock`", "answers are read again", READ, edited("scripts/score.py", "samples = tables", "rows = samples = tables", "lock")),
    Case("a comment in `scripts/score.py`", "nothing", NOTHING, edited("scripts/score.py", "    samples = tables", "    # why\n    samples = tables")),
    Case("a docstring of `excam/judges/count.py`", "nothing", NOTHING, edited("excam/judges/count.py", "Ask once;", "Ask one time;")),
    Case("the formatting of `excam/judges/count.py`", "nothing", NOTHING, edited("excam/judges/count.py", "if answer is None:", "if  answer  is  None :")),
    Case("code that moves no number (`excam/provenance.py`)", "nothing", NOTHING, edited("excam/provenance.py", "import excam\n", "import excam\n\nMORE = 1\n")),
    Case("the command of a rule (`score`)", "answers are read again", READ, edited("rules/judging.smk", "scripts.score --judge", "scripts.score  --judge")),
    Case("a comment in `rules/judging.smk`", "nothing", NOTHING, edited("rules/judging.smk", "rule score:", "# why\nrule score:")),
    Case("memory and time of a rule (`judge`)", "nothing", NOTHING, edited("rules/judging.smk", "90 * attempt", "480 * attempt")),
]

FILES = [
    Case("one source row of BLEnD", "BLEnD from `fetch_source` on", SMALL.source("blend"), edited("mini/blend/mc_questions.csv", "A. manat", "A. manats")),
    Case("the printed Table 2", "Table 2 and the comparison", some("table_2", "compare_with_paper"), edited("paper/table-2.csv", "\n", "\n\n")),
    Case("the printed claims", "every page that quotes them", some("table_2", "table_reports", "table_explanations", "compare_with_paper"), edited("paper/claims.csv", "stated as", "given as")),
    Case("a lock of packages", "Table 6, which names them", some("table_6"), edited("requirements/core.lock", "# ", "#  ")),
    Case("an environment (`envs/data.yaml`)", "nothing, unless Snakemake is to build it (3)", NOTHING, edited("envs/data.yaml", "- pip\n", "- pip>=20\n")),
    Case("`--sdm conda`, for the first time", "everything: Snakemake builds the environments now, and they count (3)", ALL_JOBS, words=("--sdm", "conda")),
    Case("a caption (`report/figure-3.rst`)", "nothing: `--report` reads it anew", NOTHING, edited("report/figure-3.rst", "a", "an")),
    Case("a profile's cores", "nothing", NOTHING, edited("profiles/local/config.yaml", "cores: all", "cores: 1")),
    Case("`--profile slurm`", "nothing", NOTHING, profile="slurm"),
    Case("`touch` of everything below `results/`", "nothing", NOTHING, touched("results"), whole=True),
    Case("a new clone, `results/` and `.snakemake/` copied with their times", "nothing", NOTHING, touched(*TRACKED)),
    Case("a new clone, `results/` copied without `.snakemake/`", "what is made of files of the clone, by their times: copy `.snakemake/` too", SMALL.source("blend", "normad") | {"table_6"}, both(moved_away(".snakemake"), touched(*TRACKED)), whole=True),
]

LOSSES = [
    Case("a lost figure (`figure-3.pdf`)", "it, and the comparison", some("figure_3", "compare_with_paper"), lost("results/paper/figure-3.pdf"), whole=True),
    Case("a lost adapter", "its training and all that hangs on it", SMALL.adapters("without-blend"), lost(f"results/adapters/{M}/without-blend/adapter_model.safetensors"), whole=True),
    Case("a lost intermediate (`samples/blend.parquet`)", "nothing, as nothing that needs it is to be made; `excam audit` names it", NOTHING, lost("results/samples/blend.parquet"), whole=True),
    Case("a lost cell and the figure that shows it", "both, and the comparison", some(f"evaluate {PLAIN}/blend/test", "figure_3", "compare_with_paper"), lost(f"results/evaluation/{PLAIN}/blend/test.json", "results/paper/figure-3.svg", "results/paper/figure-3.pdf"), whole=True),
    Case("a lost log", "nothing", NOTHING, lost("logs/table_1.log"), whole=True),
    Case("an edited cell, with its new time", "what is made of it, and not the cell itself; `excam audit` names it (4)", some("figure_3", f"figure_11 {M}", "compare_with_paper"), flipped(CELL), whole=True),
    Case("an edited cell, with its old time", "nothing: Snakemake cannot see it; `excam audit` names it (4)", NOTHING, flipped(CELL, keep_time=True), whole=True),
    Case("an edited final page (`figure-3.csv`)", "the comparison, and not the page; `excam audit` names it (4)", some("compare_with_paper"), flipped("results/paper/figure-3.csv"), whole=True),
]

ONE_CELL = [
    Case("nothing is there, `all` is asked for", "everything", ALL_JOBS, both(moved_away("results"), moved_away(".snakemake")), whole=True),
    Case("nothing is there, one leave-one-out cell is asked for", "its chain: of the left-out data set nothing is learnt, of other systems nothing is asked", FROM_NOTHING, both(moved_away("results"), moved_away(".snakemake")), targets=(CELL,), whole=True),
    Case("`-R judge` for that cell", "its chain from there on", ASKING, targets=(CELL,), words=("-R", "judge")),
    Case("`-R train_adapter` for that cell", "its chain from there on", TRAINING, targets=(CELL,), words=("-R", "train_adapter")),
    Case("`training.learning_rate`, that cell is asked for", "the same", TRAINING, config(training={"learning_rate": 2e-3}), targets=(CELL,)),
]

GPT_SEEN = {"models": {"gpt5": {"sampling": {"max_tokens": 2048}}}}
SOFT = WIDE.errors("mango", "normad")
TALL = replace(WIDE, tuned=(PHI, GEMMA, "phi3-r16"))
MORE = replace(WIDE, plain=(*WIDE.plain, "mistral-24b/nothing/count", "mistral-24b/nothing/report"))
FEWER = replace(WIDE, soft=("mango",))
SERVER = {"concurrency": 2, "requests_per_minute": 60, "timeout": 30, "price": {"prompt": 2.0, "completion": 3.0}}

PAPER = [
    Case("nothing", "nothing", NOTHING),
    Case("an overlay that says again what is so, in another order", "nothing", NOTHING, config(datasets={"normad": {"cap": 20}, "blend": {"cap": 40}}, models={PHI4: {"licence": "MIT"}})),
    Case("an external judge's way of asking added (`binary`)", "its answers on the subsets, and Figure 4", replace(WIDE, outside=(GPT, "gpt5/nothing/binary")).answers("gpt5/nothing/binary"), config(external={"judges": ["count", "binary"]})),
    Case("an external judge's decoding", "its answers, and Table 6", WIDE.answers(GPT) | {"table_6"}, config(**GPT_SEEN)),
    Case("a server's price, pace and timeout", "nothing", NOTHING, model("gpt5", server=SERVER)),
    Case("a model's name at its server", "its answers", WIDE.answers(GPT), model("gpt5", server={"name": "gpt-5-mini"})),
    Case("`construction.subset`", "the subsets, audits, floors, and the external judge", WIDE.subsets(*WIDE.datasets), config(construction={"subset": 4})),
    Case("the generator's decoding", "soft errors, what is made of them, and Table 6", SOFT | {"table_6"}, model("qwen3.5-122b-a10b", sampling={"temperature": 0.7})),
    Case("the generator's GPUs", "nothing", NOTHING, model("qwen3.5-122b-a10b", gpus=8)),
    Case("one baseline's decoding", "its answers, and Table 6", WIDE.answers(*WIDE.of(PHI4)) | WIDE.looked() | {"table_6"}, model(PHI4, sampling={"max_tokens": 512})),
    Case("one baseline's commit", "its weights and answers", WIDE.answers(*WIDE.of(PHI4)) | WIDE.looked() | {f"fetch_model {PHI4}"}, model(PHI4, revision="0" * 40)),
    Case("one base model's commit", "its weights, tokens, adapters and answers; not the other's", some(f"fetch_model {PHI}", replace(WIDE, tuned=(PHI,)).tokens(*WIDE.datasets) & {f"tokenize_samples {PHI}/{name}/train" for name in WIDE.datasets}, "count_tokens", WIDE.adapters("all", "without-blend", models=[PHI])), model(PHI, revision="0" * 40)),
    Case("one base model's recipe", "its adapters; not the other's", WIDE.adapters("all", "without-blend", models=[GEMMA]), model(GEMMA, training={"rank": 16})),
    Case("a recipe added for the same weights", "its tokens and adapters; no weights", some("count_tokens", *(f"tokenize_samples phi3-r16/{name}/train" for name in WIDE.datasets), TALL.adapters("all", "without-blend", models=["phi3-r16"])) | {"table_6"}, config(models={"phi3-r16": {"base": PHI, "licence": "MIT", "training": {"rank": 16}}}, tuned={"models": [PHI, GEMMA, "phi3-r16"]})),
    Case("the model that embeds explanations", "its weights and the pages of explanations", some("fetch_model minilm", *(f"compare_explanations {system}/test" for system in WIDE.systems if system.endswith("/report") and "without" not in system), "table_explanations"), model("minilm", revision="0" * 40)),
    Case("a baseline added", "its weights and answers, and the pages that show them", some("fetch_model mistral-24b", MORE.answers(*MORE.of("mistral-24b")), "table_6"), config(baselines={"models": [GEMMA, PHI4, "mistral-24b"]})),
    Case("a baseline removed", "the pages that showed it; no model is asked", some(*(f"compare_systems {column}/test" for column in (*WIDE.datasets, "all")), *("compare_correlations test", "error_rates", "figure_3", "figure_10", "table_4", "table_6", "table_certainty", "table_reports", "table_explanations", "table_counterfactuals", "compare_with_paper")), config(baselines={"models": [GEMMA]})),
    Case("a data set removed", "every mixture, every system; of the others nothing before", some(FEWER.splits(*FEWER.datasets) - {f"{rule} {name}" for rule in ("split_samples", "draw_subset") for name in FEWER.datasets} - {f"tokenize_samples {model}/{name}/train" for model in FEWER.tuned for name in FEWER.datasets} - {"table_9"}, "table_8"), config(datasets={"normad": None})),
    Case("one source row of Mango", "Mango from `fetch_source` on", WIDE.source("mango"), lambda copy: [copy.write(name, copy.read(name) + b"\n") for name in copy.files("mini/mango")]),
    Case("one leave-one-out cell, `-R train_adapter`", "its chain", some(f"train_adapter {GEMMA}/without-blend", f"verify_adapter {GEMMA}/without-blend", f"judge {GEMMA}/without-blend/report/test", f"score {GEMMA}/without-blend/report/blend/test", f"evaluate {GEMMA}/without-blend/report/blend/test"), targets=(f"results/evaluation/{GEMMA}/without-blend/report/blend/test.json",), words=("-R", "train_adapter")),
    Case("a new number for `answers.vllm`", "all that a vLLM model answers: soft errors too", SOFT | WIDE.verified(*WIDE.excam) | WIDE.answers(*WIDE.systems) | WIDE.looked(), bumped("answers.vllm")),
    Case("a new number for `answers.openai`", "the external judge's answers", WIDE.answers(GPT), bumped("answers.openai")),
    Case("a new number for `figure_4`", "Figure 4", some("figure_4"), bumped("figure_4")),
    Case("`annotation.rows`", "the campaign, its page, a model's first look, and what people's answers are read with", WIDE.drawn(), config(annotation={"rows": 5})),
    Case("`annotation.systems`", "the same", WIDE.drawn(), config(annotation={"systems": ["phi4/nothing/report"]})),
    Case("an annotator's exported file", "answers and their tables", WIDE.answered(), edited("tests/workflow/exports/ada.json", "[]", "[ ]")),
    Case("`annotation.answers: null`", "nothing: its tables are no longer asked for; a model's first look stands alone", some(f"table_first_look {PHI4}"), config(annotation={"answers": None})),
    Case("a new number for `collect_answers`", "answers and their tables", WIDE.answered(), bumped("collect_answers")),
    Case("a new number for `pre_annotate`", "a model's first look", WIDE.looked(), bumped("pre_annotate")),
    *(Case(f"a new number for `{stage}`", "it alone", some(stage), bumped(stage)) for stage in ("annotation_page", "table_3", "table_12", "table_13", "table_ratings", "table_agreement", "figure_votes")),
]

# Every stage of versions.lock, and what its next number makes stale in the small run.
SYSTEM_PAGES = some("table_4", "figure_3", "figure_10", f"figure_11 {M}", "compare_with_paper")
STAGES: dict[str, Jobs] = {
    "fetch_source": SMALL.source("blend", "normad"),
    "fetch_model": NOTHING,  # what is pinned by content is not fetched again because the program is another
    "weights.gguf": WEIGHTS,
    "build_samples": DATA,
    "datasets.blend": SMALL.samples("blend"),
    "datasets.normad": SMALL.samples("normad"),
    "templates.qa": SMALL.samples("blend"),
    "templates.freeform": SMALL.samples("blend"),
    "templates.impersonation": SMALL.samples("normad"),
    "templates.hard": SMALL.errors("blend"),
    "make_hard_errors": SMALL.errors("blend"),
    "generate_soft_errors": SMALL.errors("normad"),
    "collect_soft_errors": SMALL.collected("normad"),
    "split_samples": SMALL.splits("blend", "normad"),
    "draw_subset": SMALL.subsets("blend", "normad"),
    "find_near_duplicates": SMALL.duplicates(),
    "mix_samples": SMALL.mixed("all", "without-blend"),
    "tokenize_samples": SMALL.tokens("blend", "normad"),
    "train_adapter": TRAINED,
    "verify_adapter": SMALL.verified(ALL, LEFT_OUT),
    "answers.transformers": ASKED | SMALL.verified(ALL, LEFT_OUT),
    "judge": ASKED,
    "asks.count": SMALL.answers(PLAIN),
    "asks.report": SMALL.answers(ALL, LEFT_OUT),
    "judges.count": SMALL.read(PLAIN),
    "judges.report": SMALL.read(ALL, LEFT_OUT),
    "score": READ,
    "evaluate": some((f"evaluate {system}/{name}/test" for system in SMALL.systems for name in (*SMALL.datasets, "all")), SYSTEM_PAGES),
    "compare_systems": some((f"compare_systems {name}/test" for name in (*SMALL.datasets, "all")), "table_4", "figure_3", "compare_with_paper"),
    "compare_correlations": some("compare_correlations test", "table_4", "compare_with_paper"),
    "evaluate_certainty": some(f"evaluate_certainty {PLAIN}", f"evaluate_certainty {ALL}", "table_certainty", "figure_reliability", "figure_abstention"),
    "evaluate_reports": some(f"evaluate_reports {ALL}/all/test", f"evaluate_reports {LEFT_OUT}/all/test", "table_reports"),
    "compare_explanations": some(f"compare_explanations {ALL}/test", "table_explanations"),
    "make_counterfactuals": SMALL.undone(ALL),
    "judge_counterfactuals": SMALL.asked_again(ALL),
    "judged_rows": some(f"judged_rows {PLAIN}", f"judged_rows {ALL}"),
    "error_rates": some("error_rates", "compare_with_paper"),
    "leave_one_out": SMALL.changes(),
    "floors": SMALL.floors(),
    "figure_3": some("figure_3", "compare_with_paper"),
    "figure_10": some("figure_10", "compare_with_paper"),
    "figure_11": some(f"figure_11 {M}"),
    "figure_losses": some(f"figure_losses {M}"),
    "table_2": some("table_2", "compare_with_paper"),
    "table_4": some("table_4", "compare_with_paper"),
    "publish_excam40k": some("publish_excam40k all", "publish_excam40k permissive"),
    "summarize_audits": SMALL.published(),
    **{f"audit_{name}": some(f"audit_{name}", SMALL.published()) for name in ("leaks", "shortcuts", "balance", "inventory", "licences")},
    **{name: some(name) for name in (
        "compare_with_paper", "count_tokens", "figure_abstention", "figure_reliability", "table_1", "table_6", "table_8", "table_9",
        "table_10", "table_certainty", "table_counterfactuals", "table_explanations", "table_prompts", "table_reports",
    )},
    **dict.fromkeys(["figure_4", "table_recipes"], NOTHING),  # not of this experiment
    **dict.fromkeys(["try_rows", "try_model", "try_training", "preflight"], NOTHING),  # of no finished run
    **dict.fromkeys((  # of the target `annotation`: below, with the paper's models
        "draw_campaign", "annotation_page", "pre_annotate", "table_first_look", "collect_answers", "table_3", "table_12", "table_13",
        "table_ratings", "table_agreement", "figure_votes",
    ), NOTHING),
    **dict.fromkeys((f"datasets.{name}" for name in ("calmqa", "culturalbench", "epic", "globalopinionqa", "include", "mango", "nativqa")), NOTHING),
    **dict.fromkeys([*(f"{kind}.{judge}" for kind in ("judges", "asks") for judge in ("binary", "severity")), "answers.vllm", "answers.openai", "templates.generation"], NOTHING),
}
# fmt: on
ALONE = [stage for stage, jobs in STAGES.items() if len(jobs) == 1]  # pages that nothing else is made of
ELSEWHERE = [stage for stage, jobs in STAGES.items() if not jobs]
BUMPS = [
    *(Case(f"`{stage}`", "", jobs, bumped(stage)) for stage, jobs in STAGES.items() if len(jobs) > 1),
    Case(f"{len(ALONE)} stages at once", "each its page", some(*(STAGES[stage] for stage in ALONE)), bumped(*ALONE)),
    Case(f"{len(ELSEWHERE)} stages at once", "nothing of this run", NOTHING, bumped(*ELSEWHERE)),
]
SECTIONS = {
    "The configuration": CONFIGURATION,
    "Data sets, mixtures, judges": AXES,
    "Code, prompts and templates": CODE,
    "Files, places, profiles": FILES,
    "Losses and damage": LOSSES,
    "From nothing, and one cell": ONE_CELL,
}

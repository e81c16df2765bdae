"""What the targets of the Snakefile ask for."""


def adapters():
    return [file for model, trained_on in EXPERIMENT.adapters for file in adapter_files(model, trained_on)]


def pack():
    """The knowledge pack of the benchmarks' facts, if a judge reads passages."""
    return expand("results/pack/{file}", file=EVIDENCE_FILES) if WITH_EVIDENCE else []


def paper():
    """Every table and figure for which this experiment has data, judged rows among them."""
    return [*pages_of("paper"), *judged_pages()]


def judged_pages():
    """Every judged test row to look at: of each baseline and of ExCAM trained on all."""
    return [f"results/paper/judged-rows/{system}.html" for system in column_systems("all")]


def in_domain_excam():
    """ExCAM trained on all, in each way that it is asked."""
    return [system for system in column_systems("all") if Path(system).parts[1] != "nothing"]


def reporting_systems():
    """Each baseline that writes reports, and ExCAM trained on all."""
    return [system for system in column_systems("all") if Path(system).name == "report"]


def external_cells(wildcards):
    """Cells of the external judges; one without its key in the environment is skipped with a message."""
    for m in sorted({*EXPERIMENT.external.models}):
        if key := missing_key(EXPERIMENT.models[m]):
            logger.warning(f"external: {m} skipped: environment variable {key} is not set; expected its key")
    return [f"results/evaluation/{s}/{d}/test-100.json" for s in external_systems() for d in [*DATASETS, "all"]]


def external_systems():
    """The external judges whose key is there, as they are asked."""
    keyed = [m for m in EXPERIMENT.external.models if not missing_key(EXPERIMENT.models[m])]
    return [f"{m}/nothing/{j}" for m in keyed for j in EXPERIMENT.external.judges]


def missing_key(model):
    """Name of the API-key environment variable if it is unset, else None."""
    name = model.server and model.server.key_env
    return name if name and not os.environ.get(name) else None


def annotation_pages():
    """The campaign's page, and what people answered."""
    return ["results/annotation/campaign.html", *(pages_of("annotation") if EXPERIMENT.annotation.answers else [])]


def macaron_answers():
    """The answers of each model in each mode, and written sheets."""
    if not MACARON:
        return []
    asked = [(model, mode) for model in dict.fromkeys(MACARON.models) for mode in dict.fromkeys(MACARON.modes)]
    asked += [(model, "thinking") for model in dict.fromkeys(MACARON.thinking)]
    return [f"results/macaron/answers/{model}/{mode}.parquet" for model, mode in asked] + [
        f"results/macaron/answers/{sheet}/written.parquet" for sheet in MACARON_SHEETS
    ]


def answerers():
    """The models that answer, and the sheets."""
    return list(dict.fromkeys(Path(path).parent.name for path in macaron_answers()))


def macaron_pages():
    """Every table, figure and page of rows of Macaron; none where it is switched off."""
    return [*pages_of("macaron"), *(f"results/macaron/rows/{name}.html" for name in answerers())]


def macaron_target(wildcards):
    """What the target `macaron` asks for. Stop with one line where the section is missing."""
    if not MACARON:
        raise WorkflowError("macaron: switched off; expected a section `macaron`, as in experiments/mini.yaml")
    return macaron_pages()


def rubric_ratings():
    """The ratings of each model."""
    return (
        [f"results/rubric/raters/{model}/ratings.parquet" for model in dict.fromkeys(RUBRIC.raters)] if RUBRIC else []
    )


def rubric_pages():
    """Every table and page about ratings, and the campaign, if somebody is to rate; none where it is switched off."""
    rated = pages_of("rubric") if RUBRIC and (RUBRIC.raters or RUBRIC.ratings) else []
    drawn = ["results/rubric/campaign.json", "results/rubric/campaign.html"] if RUBRIC and RUBRIC.evaluator else []
    return [*rated, *drawn]


def rubric_target(wildcards):
    """What the target `rubric` asks for. Stop with one line where the section is missing."""
    if not RUBRIC:
        raise WorkflowError("rubric: switched off; expected a section `rubric`, as in experiments/mini.yaml")
    return rubric_pages()


def translators():
    """Who translates, and after how many examples: the folder's systems, and models; those of seq2seq take none."""
    if not CULT_EVAL:
        return []
    asked = [
        (name, shots)
        for name in dict.fromkeys(CULT_EVAL.systems)
        for shots in dict.fromkeys(CULT_EVAL.shots)
        if not (shots and EXPERIMENT.models[name].backend == "seq2seq")
    ]
    return [(cult_eval_source.WRITTEN, 0), *asked]


def cult_eval_files(*folders):
    """The file of every translator in these folders of results/cult_eval/."""
    return [f"results/cult_eval/{folder}/{name}/{shots}.parquet" for folder in folders for name, shots in translators()]


def cult_eval_target(wildcards):
    """What the target `cult_eval` asks for. Stop with one line where the section is missing."""
    if not CULT_EVAL:
        raise WorkflowError("cult_eval: switched off; expected a section `cult_eval`, as in experiments/mini.yaml")
    return pages_of("cult_eval")


def calmqa_pages():
    """Every table and page of CaLMQA; none where it is switched off."""
    return [*pages_of("calmqa"), "results/calmqa/rows.html"] if CALMQA else []


def calmqa_target(wildcards):
    """What the target `calmqa` asks for. Stop with one line where the section is missing."""
    if not CALMQA:
        raise WorkflowError("calmqa: switched off; expected a section `calmqa`, as in experiments/mini.yaml")
    return calmqa_pages()


def crossing_pages():
    """Every table and figure of the crossing; none where it is switched off."""
    return pages_of("crossing") if CROSSING else []


def crossing_target(wildcards):
    """What the target `crossing` asks for. Stop with one line where the section is missing."""
    if not CROSSING:
        raise WorkflowError("crossing: switched off; expected a section `crossing`, as in experiments/mini.yaml")
    return crossing_pages()


def scores(wildcards):
    """The summary of the user's own texts."""
    if not SCORES:
        raise WorkflowError("scores: no texts; expected --config texts=FOLDER model=MODEL")
    return "results/scores/{}/{}/{}/summary.md".format(*map(shards.component, SCORES))

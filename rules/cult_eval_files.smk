"""Settings, inputs and targets of CulT-Eval: what its rules and pages are made of."""

from excam.acre import source as cult_eval_source

CULT_EVAL = EXPERIMENT.cult_eval
CULT_EVAL_FILES = files_named("cult_eval.folder", cult_eval_source.files)


wildcard_constraints:
    translator=one_of([cult_eval_source.WRITTEN, *(CULT_EVAL.models if CULT_EVAL else [])]),
    shots="0|1",


def cult_eval_optional(name):
    """A file that the folder may have: labels, the held-out item of the one-shot prompt, or removed candidates."""
    return files_named("cult_eval.folder", lambda folder: cult_eval_source.optional(folder, name))


def translators():
    """Who translates, and after how many examples: the folder's systems, and models; those of seq2seq take none."""
    if not CULT_EVAL:
        return []
    asked = [
        (name, shots)
        for name in dict.fromkeys(CULT_EVAL.models)
        for shots in dict.fromkeys(CULT_EVAL.shots)
        if not (shots and (name in CULT_EVAL.no_example or EXPERIMENT.models[name].backend == "seq2seq"))
    ]
    return [(cult_eval_source.WRITTEN, 0), *asked]


def cult_eval_files(*folders):
    """The file of every translator in these folders of results/cult_eval/."""
    return [f"results/cult_eval/{folder}/{name}/{shots}.parquet" for folder in folders for name, shots in translators()]


def cult_eval_numbers():
    """The tables that are compared with the paper's; some need labels."""
    if not CULT_EVAL:
        return []
    labelled = ["table-2", "table-5", "ablations"] if cult_eval_optional(cult_eval_source.LABELS) else []
    return [f"results/cult_eval/{name}.csv" for name in ("table-1", "removals", *labelled)]


FILES |= {  # sets of files that its steps name
    "cult_eval_encoder": weights_of(CULT_EVAL and CULT_EVAL.encoder),
    "cult_eval_example": lambda w: cult_eval_optional(cult_eval_source.EXAMPLE) if w.shots == "1" else [],
    "cult_eval_files": CULT_EVAL_FILES,
    "cult_eval_items": ["results/cult_eval/items.parquet"] if CULT_EVAL else [],
    "cult_eval_judged": cult_eval_files(
        "judged/equivalent", *(f"judged/{judge}" for judge in (CULT_EVAL.judges if CULT_EVAL else []))
    ),
    "cult_eval_labels": cult_eval_optional(cult_eval_source.LABELS),
    "cult_eval_metrics": cult_eval_files("metrics"),
    "cult_eval_numbers": cult_eval_numbers(),
    "cult_eval_removed": cult_eval_optional(cult_eval_source.REMOVED),
    "cult_eval_rows": cult_eval_files("rows"),
    "cult_eval_scores": list(CULT_EVAL.scores.values()) if CULT_EVAL else [],
}
SETTINGS |= {
    "cult_eval_claimed": json.dumps(
        {
            "models": {name: EXPERIMENT.models[name].backend for name in (CULT_EVAL.models if CULT_EVAL else [])},
            "shots": CULT_EVAL.shots if CULT_EVAL else [],
        }
    ),
    "cult_eval_form": lambda w: "plain" if EXPERIMENT.models[w.model].backend == "seq2seq" else "prompt",
    "cult_eval_scored": list(CULT_EVAL.scores) if CULT_EVAL else [],
}

"""Settings, inputs and targets of Macaron: what its rules and pages are made of."""

from excam.macaron import source as macaron_source

MACARON = EXPERIMENT.macaron
MACARON_MODES = ["choose", "letter", "text", "thinking"]
MACARON_FILES = files_named("macaron.folder", macaron_source.files)


wildcard_constraints:
    mode=one_of(MACARON_MODES),


def proofreader_name():
    """The model that proofreads Macaron, "" if there is none."""
    return MACARON.proofreader or "" if MACARON else ""


ASKED["proofreader"] = Asked(lambda _: proofreader_name())


def macaron_answers():
    """The answers of each model in each mode."""
    if not MACARON:
        return []
    asked = [(model, mode) for model in dict.fromkeys(MACARON.models) for mode in dict.fromkeys(MACARON.modes)]
    asked += [(model, "thinking") for model in dict.fromkeys(MACARON.thinking)]
    return [f"results/macaron/answers/{model}/{mode}.parquet" for model, mode in asked]


def macaron_pages():
    """Every table and figure of Macaron; none where it is switched off."""
    return pages_of("macaron")


FILES |= {  # sets of files that its steps name
    "macaron_built": f"results/macaron/{'built' if proofreader_name() else 'scenarios'}.parquet",
    "macaron_files": MACARON_FILES,
    "macaron_proofread": f"results/macaron/{'scenarios' if proofreader_name() else 'proofread'}.parquet",
    "macaron_answers": macaron_answers(),
    "macaron_instances": ["results/macaron/instances.parquet"] if MACARON else [],
    "macaron_scenarios": ["results/macaron/scenarios.parquet"] if MACARON else [],
}
SETTINGS |= {
    "macaron_minutes": lambda w: 240 if w.mode == "thinking" else 60,
    "macaron_proofreader": proofreader_name(),
    "macaron_columns": json.dumps(MACARON.columns if MACARON else {}, sort_keys=True),
    "macaron_categories": json.dumps(MACARON.categories if MACARON else {}, sort_keys=True),
}

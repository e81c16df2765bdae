"""Settings, inputs and targets of CaLMQA: what its rules and pages are made of."""

from excam.calmqa import source as calmqa_source

CALMQA = EXPERIMENT.calmqa
CALMQA_FILES = {  # of each local folder of the section
    name: files_named(f"calmqa.{name}", lambda folder: files_of(folder, f"calmqa.{name}"))
    for name, files_of in calmqa_source.LOCAL_FILES.items()
}
CALMQA_RATINGS = files_named("calmqa.people", lambda path: [path])

CALMQA_ROLES = {
    "translations": "translator", "claims": "extractor", "verdicts": "verifier", "relevance": "relevance"
}  # fmt: skip


CALMQA_STEPS = {  # the stages that ask a model -> its name
    step: name for step, role in CALMQA_ROLES.items() if (name := CALMQA and getattr(CALMQA, role)) and name != "rules"
}


ASKED["calmqa_judge"] = Asked(lambda wildcards: CALMQA_STEPS[wildcards.step])


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
        f"factuality: {CALMQA.factuality}; no claims: zero; detector: {CALMQA.detector}; "
        f"repetition: {CALMQA.repetition.tokens} tokens {CALMQA.repetition.times} times"
    )


def calmqa_transcripts():
    """What each model answered to the questions."""
    subjects = dict.fromkeys(CALMQA.models) if CALMQA else []
    return [f"results/calmqa/transcripts/answers/{name}.jsonl" for name in subjects]


def calmqa_asked(step):
    """The transcript of a stage, if a model does it."""
    return f"results/calmqa/transcripts/{step}.jsonl" if step in CALMQA_STEPS else []


def calmqa_translated():
    """The translations, if there is a translator."""
    return "results/calmqa/translations.parquet" if "translations" in CALMQA_STEPS else []


def calmqa_encoder():
    """The fetched encoder, if relevance is its cosine."""
    asked = CALMQA and "relevance" not in CALMQA_STEPS
    return f"results/models/{EXPERIMENT.weights(CALMQA.encoder)}/manifest.json" if asked else []


def calmqa_pages():
    """Every table and page of CaLMQA; none where it is switched off."""
    return [*pages_of("calmqa"), "results/calmqa/rows.html"] if CALMQA else []


FILES |= {  # sets of files that its steps name
    "calmqa_documents": CALMQA_FILES["evidence"],
    "calmqa_encoder": calmqa_encoder(),
    "calmqa_files": CALMQA_FILES["questions"],
    "calmqa_judged_claims": lambda w: "results/calmqa/claims.parquet" if w.step == "verdicts" else [],
    "calmqa_judged_evidence": lambda w: "results/calmqa/evidence.parquet" if w.step == "verdicts" else [],
    "calmqa_judged_translations": lambda w: [] if w.step == "translations" else calmqa_translated(),
    "calmqa_languages": ["results/calmqa/languages.csv"] if CALMQA else [],
    "calmqa_ratings": CALMQA_RATINGS,
    "calmqa_sheets": CALMQA_FILES["written"],
    "calmqa_transcripts": calmqa_transcripts(),
    "calmqa_translations": calmqa_translated(),
    **{
        f"calmqa_{name}": [f"results/calmqa/{name}.parquet"] if CALMQA else []
        for name in ("answers", "claims", "questions", "scores", "surface", "verdicts")
    },
    **{f"calmqa_transcript_{step}": calmqa_asked(step) for step in ("claims", "verdicts", "relevance")},
}
SETTINGS |= {
    "calmqa_judge": ASKED["calmqa_judge"].name_of,
    "calmqa_rater": calmqa_rater(),
    "calmqa_steps": CALMQA_STEPS,
    "calmqa_claimed": json.dumps(CALMQA.model_dump(mode="json", include={"models", "repetition"}) if CALMQA else {}),
    "calmqa_how": calmqa_how(),
}

"""CaLMQA's score: questions -> answers -> surface, claims, evidence, verdicts, relevance -> scores -> tables (pages).

A stage with a model has two jobs: `calmqa_judge` asks and keeps a transcript, the rule of the stage parses it. A stage
without one reads its inputs alone.
"""


localrules:
    calmqa_questions,
    calmqa_answers,
    calmqa_surface,
    calmqa_translations,
    calmqa_claims,
    calmqa_index,
    calmqa_evidence,
    calmqa_verdicts,
    calmqa_relevance,
    calmqa_scores,
    calmqa_rows,


rule calmqa_questions:
    """Read the questions, in the official columns."""
    input:
        files=CALMQA_FILES["questions"],
    output:
        questions="results/calmqa/questions.parquet",
    log:
        "logs/calmqa_questions.log",
    benchmark:
        "benchmarks/calmqa_questions.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("calmqa_questions"),
    shell:
        "python -m scripts calmqa_questions --files {input.files:q} --questions {output.questions:q} 2>&1 | tee {log:q}"


rule calmqa_ask:
    """Ask one model every question."""
    input:
        questions="results/calmqa/questions.parquet",
        weights=MODEL.weights,
    output:
        transcript="results/calmqa/transcripts/answers/{model}.jsonl",
        manifest="results/calmqa/transcripts/answers/{model}.manifest.json",
    log:
        "logs/calmqa_ask/{model}.log",
    benchmark:
        "benchmarks/calmqa_ask/{model}.tsv"
    group:
        "engine_{model}"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **MODEL.resources(minutes=240),
    params:
        **MODEL.params,
        version=versions("calmqa_ask", "calmqa/asks.answers", MODEL.answers),
    shell:
        "python -m scripts calmqa_ask --subject {wildcards.model:q} --model {params.model:q} --gpus {resources.gpu:q}"
        " --pace {resources.pace:q} {params.weights:q} --questions {input.questions:q} --seed {params.seed:q}"
        " --journal results/journal/calmqa/answers.jsonl --transcript {output.transcript:q}"
        " --manifest {output.manifest:q} 2>&1 | tee {log:q}"


rule calmqa_answers:
    """The answers of all models, and written ones. Needs no model."""
    input:
        questions="results/calmqa/questions.parquet",
        transcripts=calmqa_transcripts(),
        sheets=CALMQA_FILES["written"],
    output:
        answers="results/calmqa/answers.parquet",
    log:
        "logs/calmqa_answers.log",
    benchmark:
        "benchmarks/calmqa_answers.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("calmqa_answers", "calmqa/asks.answers"),
    shell:
        "python -m scripts calmqa_answers --questions {input.questions:q} --transcripts {input.transcripts:q}"
        " --sheets {input.sheets:q} --answers {output.answers:q} 2>&1 | tee {log:q}"


rule calmqa_surface:
    """Is each answer in the language of its question, and does it repeat itself? Needs no model."""
    input:
        questions="results/calmqa/questions.parquet",
        answers="results/calmqa/answers.parquet",
    output:
        surface="results/calmqa/surface.parquet",
        languages="results/calmqa/languages.csv",
    log:
        "logs/calmqa_surface.log",
    benchmark:
        "benchmarks/calmqa_surface.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("calmqa_surface"),
        detector=calmqa_setting("detector"),
        tokens=CALMQA.repetition.tokens if CALMQA else 20,
        times=CALMQA.repetition.times if CALMQA else 4,
    shell:
        "python -m scripts calmqa_surface --questions {input.questions:q} --answers {input.answers:q}"
        " --detector {params.detector:q} --tokens {params.tokens:q} --times {params.times:q}"
        " --surface {output.surface:q} --languages {output.languages:q} 2>&1 | tee {log:q}"


rule calmqa_judge:
    """Ask the model of a stage about everything that this stage judges."""
    input:
        questions="results/calmqa/questions.parquet",
        answers="results/calmqa/answers.parquet",
        translations=lambda w: [] if w.step == "translations" else calmqa_translated(),
        claims=lambda w: "results/calmqa/claims.parquet" if w.step == "verdicts" else [],
        evidence=lambda w: "results/calmqa/evidence.parquet" if w.step == "verdicts" else [],
        weights=CALMQA_JUDGE.weights,
    output:
        transcript="results/calmqa/transcripts/{step}.jsonl",
        manifest="results/calmqa/transcripts/{step}.manifest.json",
    log:
        "logs/calmqa_judge/{step}.log",
    benchmark:
        "benchmarks/calmqa_judge/{step}.tsv"
    wildcard_constraints:
        step=one_of(CALMQA_STEPS),
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **CALMQA_JUDGE.resources(minutes=240),
    params:
        **CALMQA_JUDGE.params,
        version=versions("calmqa_judge", "calmqa/asks.{step}", CALMQA_JUDGE.answers),
        name=CALMQA_JUDGE.name_of,
        tables=calmqa_tables,
        verdicts=calmqa_setting("verdicts"),
    shell:
        "python -m scripts calmqa_judge --step {wildcards.step:q} --name {params.name:q} --model {params.model:q}"
        " --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q} --questions {input.questions:q}"
        " --answers {input.answers:q} {params.tables:q} --verdicts {params.verdicts:q} --seed {params.seed:q}"
        " --journal results/journal/calmqa/{wildcards.step:q}.jsonl --transcript {output.transcript:q}"
        " --manifest {output.manifest:q} 2>&1 | tee {log:q}"


rule calmqa_translations:
    """Parse the English translations. A new parser needs no model."""
    input:
        questions="results/calmqa/questions.parquet",
        answers="results/calmqa/answers.parquet",
        transcript="results/calmqa/transcripts/translations.jsonl",
    output:
        "results/calmqa/translations.parquet",
    log:
        "logs/calmqa_translations.log",
    benchmark:
        "benchmarks/calmqa_translations.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("calmqa_translations", "calmqa/asks.translations"),
    shell:
        "python -m scripts calmqa_translations --questions {input.questions:q} --answers {input.answers:q}"
        " --transcript {input.transcript:q} --to {output:q} 2>&1 | tee {log:q}"


rule calmqa_claims:
    """List the claims of each answer."""
    input:
        questions="results/calmqa/questions.parquet",
        answers="results/calmqa/answers.parquet",
        translations=calmqa_translated(),
        transcript=calmqa_asked("claims"),
    output:
        "results/calmqa/claims.parquet",
    log:
        "logs/calmqa_claims.log",
    benchmark:
        "benchmarks/calmqa_claims.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("calmqa_claims", "calmqa/asks.claims"),
        more=calmqa_options(translations=calmqa_translated(), transcript=calmqa_asked("claims")),
    shell:
        "python -m scripts calmqa_claims --questions {input.questions:q} --answers {input.answers:q} {params.more:q}"
        " --to {output:q} 2>&1 | tee {log:q}"


rule calmqa_index:
    """Index the documents that claims are compared with. The same documents give the same bytes."""
    input:
        documents=CALMQA_FILES["evidence"],
    output:
        index="results/calmqa/index/index.json",
        files=f"results/calmqa/index/{PASSAGES}",
    log:
        "logs/calmqa_index.log",
    benchmark:
        "benchmarks/calmqa_index.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("calmqa_index", "knowledge/passages"),
        folder=EXPERIMENT.calmqa.evidence if EXPERIMENT.calmqa else "",
    shell:
        "python -m scripts calmqa_index --folder {params.folder:q} --to {output.index:q} 2>&1 | tee {log:q}"


rule calmqa_evidence:
    """Find passages for each claim."""
    input:
        claims="results/calmqa/claims.parquet",
        index="results/calmqa/index/index.json",
        files=f"results/calmqa/index/{PASSAGES}",
    output:
        "results/calmqa/evidence.parquet",
    log:
        "logs/calmqa_evidence.log",
    benchmark:
        "benchmarks/calmqa_evidence.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("calmqa_evidence", "knowledge/passages"),
        passages=calmqa_setting("passages"),
    shell:
        "python -m scripts calmqa_evidence --claims {input.claims:q} --index {input.index:q}"
        " --passages {params.passages:q} --to {output:q} 2>&1 | tee {log:q}"


rule calmqa_verdicts:
    """Say of each claim whether the passages support it. A new parser needs no model."""
    input:
        claims="results/calmqa/claims.parquet",
        evidence="results/calmqa/evidence.parquet",
        transcript=calmqa_asked("verdicts"),
    output:
        "results/calmqa/verdicts.parquet",
    log:
        "logs/calmqa_verdicts.log",
    benchmark:
        "benchmarks/calmqa_verdicts.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("calmqa_verdicts", "calmqa/asks.verdicts", "knowledge/passages"),
        name=calmqa_setting("verifier"),
        verdicts=calmqa_setting("verdicts"),
        more=calmqa_options(transcript=calmqa_asked("verdicts")),
    shell:
        "python -m scripts calmqa_verdicts --name {params.name:q} --claims {input.claims:q}"
        " --evidence {input.evidence:q} --verdicts {params.verdicts:q} {params.more:q} --to {output:q} 2>&1 | tee {log:q}"


rule calmqa_relevance:
    """Rate how far each answer addresses its question. A new parser needs no model."""
    input:
        questions="results/calmqa/questions.parquet",
        answers="results/calmqa/answers.parquet",
        translations=calmqa_translated(),
        transcript=calmqa_asked("relevance"),
        encoder=calmqa_encoder(),
    output:
        "results/calmqa/relevance.parquet",
    log:
        "logs/calmqa_relevance.log",
    benchmark:
        "benchmarks/calmqa_relevance.tsv"
    conda:
        "../envs/inference.yaml"
    params:
        version=versions("calmqa_relevance", "calmqa/asks.relevance"),
        name=calmqa_rater(),
        scale=calmqa_setting("scale"),
        more=calmqa_options(
            translations=calmqa_translated(), transcript=calmqa_asked("relevance"), encoder=calmqa_encoder()
        ),
    shell:
        "python -m scripts calmqa_relevance --name {params.name:q} --questions {input.questions:q}"
        " --answers {input.answers:q} --scale {params.scale:q} {params.more:q} --to {output:q} 2>&1 | tee {log:q}"


rule calmqa_scores:
    """Join the stages into S of each answer."""
    input:
        questions="results/calmqa/questions.parquet",
        answers="results/calmqa/answers.parquet",
        surface="results/calmqa/surface.parquet",
        claims="results/calmqa/claims.parquet",
        verdicts="results/calmqa/verdicts.parquet",
        relevance="results/calmqa/relevance.parquet",
    output:
        "results/calmqa/scores.parquet",
    log:
        "logs/calmqa_scores.log",
    benchmark:
        "benchmarks/calmqa_scores.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("calmqa_scores"),
        factuality=calmqa_setting("factuality"),
        no_claims=calmqa_setting("no_claims"),
    shell:
        "python -m scripts calmqa_scores --questions {input.questions:q} --answers {input.answers:q}"
        " --surface {input.surface:q} --claims {input.claims:q} --verdicts {input.verdicts:q}"
        " --relevance {input.relevance:q} --factuality {params.factuality:q} --no-claims {params.no_claims:q}"
        " --to {output:q} 2>&1 | tee {log:q}"


rule calmqa_rows:
    """Every answer with its parts, its claims and their verdicts, on one page."""
    input:
        questions="results/calmqa/questions.parquet",
        answers="results/calmqa/answers.parquet",
        surface="results/calmqa/surface.parquet",
        claims="results/calmqa/claims.parquet",
        verdicts="results/calmqa/verdicts.parquet",
        scores="results/calmqa/scores.parquet",
    output:
        page=report("results/calmqa/rows.html", caption="../report/calmqa-rows.rst", category="CaLMQA"),
    log:
        "logs/calmqa_rows.log",
    benchmark:
        "benchmarks/calmqa_rows.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("calmqa_rows"),
    shell:
        "python -m scripts calmqa_rows --questions {input.questions:q} --answers {input.answers:q}"
        " --surface {input.surface:q} --claims {input.claims:q} --verdicts {input.verdicts:q}"
        " --scores {input.scores:q} --page {output.page:q} 2>&1 | tee {log:q}"

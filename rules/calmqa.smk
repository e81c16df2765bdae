"""CaLMQA's score: questions -> answers -> surface, claims, evidence, verdicts, relevance -> scores -> tables (pages).

A stage with a model has two jobs: `calmqa_judge` asks and keeps a transcript, the rule of the stage parses it. A stage
without one reads its inputs alone.
"""


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

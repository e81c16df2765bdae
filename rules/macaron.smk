"""Macaron: scenarios of a folder -> six instances each -> answers of models -> tables and figures (pages)."""


localrules:
    macaron_build,
    macaron_derive,
    macaron_answers,
    macaron_sheet,
    macaron_rows,


rule macaron_build:
    """Read the benchmark, authors' exports or the official tables; what is left out is counted."""
    input:
        files=MACARON_FILES,
    output:
        scenarios=(
            "results/macaron/built.parquet" if MACARON and MACARON.proofreader else "results/macaron/scenarios.parquet"
        ),
        dropped="results/macaron/dropped.csv",
    log:
        "logs/macaron_build.log",
    benchmark:
        "benchmarks/macaron_build.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("macaron_build"),
        columns=json.dumps(MACARON.columns if MACARON else {}, sort_keys=True),
    shell:
        "python -m scripts macaron_build --files {input.files:q} --columns {params.columns:q}"
        " --scenarios {output.scenarios:q} --dropped {output.dropped:q} 2>&1 | tee {log:q}"


rule macaron_proofread:
    """Correct spelling and grammar of the English texts with a model; a guard refuses any other edit."""
    input:
        scenarios="results/macaron/built.parquet",
        weights=PROOFREADER.weights,
    output:
        proofread=(
            "results/macaron/scenarios.parquet"
            if MACARON and MACARON.proofreader
            else "results/macaron/proofread.parquet"
        ),
        edits="results/macaron/edits.csv",
        transcript="results/macaron/transcripts/proofreading.jsonl",
        manifest="results/macaron/transcripts/proofreading.manifest.json",
    log:
        "logs/macaron_proofread.log",
    benchmark:
        "benchmarks/macaron_proofread.tsv"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **PROOFREADER.resources(minutes=60),
    params:
        **PROOFREADER.params,
        version=versions("macaron_proofread", PROOFREADER.answers),
        name=proofreader_name(),
    shell:
        "python -m scripts macaron_proofread --name {params.name:q} --model {params.model:q} --gpus {resources.gpu:q}"
        " --pace {resources.pace:q} {params.weights:q} --scenarios {input.scenarios:q} --seed {params.seed:q}"
        " --journal results/journal/macaron/proofreading.jsonl --proofread {output.proofread:q} --edits {output.edits:q}"
        " --transcript {output.transcript:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"


rule macaron_derive:
    """Derive six aligned instances of each scenario."""
    input:
        scenarios="results/macaron/scenarios.parquet",
    output:
        instances="results/macaron/instances.parquet",
    log:
        "logs/macaron_derive.log",
    benchmark:
        "benchmarks/macaron_derive.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("macaron_derive"),
        orders=MACARON.orders if MACARON else "shuffled",
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts macaron_derive --scenarios {input.scenarios:q} --orders {params.orders:q}"
        " --seed {params.seed:q} --instances {output.instances:q} 2>&1 | tee {log:q}"


rule macaron_ask:
    """Ask one model about every instance in one mode."""
    input:
        instances="results/macaron/instances.parquet",
        weights=MODEL.weights,
    output:
        transcript="results/macaron/transcripts/{model}/{mode}.jsonl",
        manifest="results/macaron/transcripts/{model}/{mode}.manifest.json",
    log:
        "logs/macaron_ask/{model}/{mode}.log",
    benchmark:
        "benchmarks/macaron_ask/{model}/{mode}.tsv"
    group:
        "engine_{model}"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **MODEL.resources(minutes=lambda w: 240 if w.mode == "thinking" else 60),
    params:
        **MODEL.params,
        version=versions("macaron_ask", MODEL.answers),
    shell:
        "python -m scripts macaron_ask --name {wildcards.model:q}/{wildcards.mode:q} --model {params.model:q}"
        " --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q} --mode {wildcards.mode:q}"
        " --instances {input.instances:q} --seed {params.seed:q}"
        " --journal results/journal/macaron/{wildcards.model:q}.jsonl"
        " --transcript {output.transcript:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"


rule macaron_answers:
    """Parse a transcript into answers. A new parser needs no GPU."""
    input:
        instances="results/macaron/instances.parquet",
        transcript="results/macaron/transcripts/{model}/{mode}.jsonl",
    output:
        answers="results/macaron/answers/{model}/{mode}.parquet",
    log:
        "logs/macaron_answers/{model}/{mode}.log",
    benchmark:
        "benchmarks/macaron_answers/{model}/{mode}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("macaron_answers"),
    shell:
        "python -m scripts macaron_answers --name {wildcards.model:q} --mode {wildcards.mode:q}"
        " --instances {input.instances:q} --transcript {input.transcript:q} --answers {output.answers:q}"
        " 2>&1 | tee {log:q}"


rule macaron_sheet:
    """A written answer sheet as answers."""
    input:
        instances="results/macaron/instances.parquet",
        sheet=answer_sheet,
    output:
        answers="results/macaron/answers/{sheet}/written.parquet",
    log:
        "logs/macaron_sheet/{sheet}.log",
    benchmark:
        "benchmarks/macaron_sheet/{sheet}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("macaron_sheet"),
    shell:
        "python -m scripts macaron_sheet --name {wildcards.sheet:q} --instances {input.instances:q}"
        " --sheet {input.sheet:q} --answers {output.answers:q} 2>&1 | tee {log:q}"


rule macaron_rows:
    """Every instance with the answers of one model, on one page."""
    input:
        instances="results/macaron/instances.parquet",
        answers=answers_of,
    output:
        page=report("results/macaron/rows/{answerer}.html", caption="../report/macaron-rows.rst", category="Macaron"),
    log:
        "logs/macaron_rows/{answerer}.log",
    benchmark:
        "benchmarks/macaron_rows/{answerer}.tsv"
    wildcard_constraints:
        answerer=one_of(answerers()),
    conda:
        "../envs/data.yaml"
    params:
        version=versions("macaron_rows"),
    shell:
        "python -m scripts macaron_rows --answers {input.answers:q} --instances {input.instances:q}"
        " --page {output.page:q} 2>&1 | tee {log:q}"

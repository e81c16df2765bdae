"""Rubric: responses -> a campaign for people; ratings of models, settled by the rules -> all ratings together -> quality (pages)."""


rule rubric_rate:
    """Ask one model to rate every response."""
    input:
        responses=RUBRIC_FILES["responses"],
        manual=RUBRIC_FILES["version"],
        weights=MODEL.weights,
    output:
        transcript="results/rubric/raters/{model}/transcript.jsonl",
        manifest="results/rubric/raters/{model}/manifest.json",
    log:
        "logs/rubric_rate/{model}.log",
    benchmark:
        "benchmarks/rubric_rate/{model}.tsv"
    group:
        "engine_{model}"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **MODEL.resources(minutes=120),
    params:
        **MODEL.params,
        **RUBRIC_MANUAL,
        version=versions("rubric_rate", "rubric/asks", MODEL.answers),
        ask=RUBRIC.mode if RUBRIC else "text",
    shell:
        "python -m scripts rubric_rate --name {wildcards.model:q} --model {params.model:q} --gpus {resources.gpu:q}"
        " --pace {resources.pace:q} {params.weights:q} --rubric {params.rubric:q} --base {params.base:q}"
        " --ask {params.ask:q} --responses {input.responses:q} --seed {params.seed:q}"
        " --journal results/journal/rubric/{wildcards.model:q}.jsonl"
        " --transcript {output.transcript:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"

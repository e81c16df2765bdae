"""The data set: splits by base sample, and the mixtures adapters learn from."""


localrules:
    draw_subset,


rule split_samples:
    """Join original pairs and corrupted versions, cap, split by base sample."""
    input:
        right="results/samples/{dataset}.parquet",
        wrong=corrupted_rows,
        too_long=long_rows,
    output:
        expand(
            "results/excam40k/{{dataset}}/{split}.parquet",
            split=["train", "dev", "test"],
        ),
        counts="results/excam40k/{dataset}/counts.json",
    log:
        "logs/split_samples/{dataset}.log",
    benchmark:
        "benchmarks/split_samples/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(DATASETS),
    conda:
        "../envs/data.yaml"
    resources:
        runtime=lambda w, attempt: 60 * attempt,
    params:
        version=versions("split_samples"),
        cap=lambda w: (
            f"--cap={EXPERIMENT.datasets[w.dataset].cap}" if EXPERIMENT.construction.cap_stage == "after" else ""
        ),
        too_long=flag("too-long", long_rows),
        seed=f"--seed={EXPERIMENT.seed}",
        folder=subpath(output.counts, parent=True),
    shell:
        "python -m scripts split_samples --right {input.right:q} --wrong {input.wrong:q} {params.too_long:q}"
        " {params.cap:q} {params.seed:q} --folder {params.folder:q} 2>&1 | tee {log:q}"


rule draw_subset:
    """Draw balanced rows of each test set for paid judges; a rule of its own, so that its size retrains nothing."""
    input:
        samples=of_each_dataset("results/excam40k/{dataset}/test.parquet"),
    output:
        subsets=of_each_dataset("results/excam40k/{dataset}/test-100.parquet"),
    log:
        "logs/draw_subset.log",
    benchmark:
        "benchmarks/draw_subset.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("draw_subset"),
        rows=f"--rows={EXPERIMENT.construction.subset}",
        seed=f"--seed={EXPERIMENT.seed}",
    shell:
        "python -m scripts draw_subset --samples {input.samples:q} {params.rows:q} {params.seed:q}"
        " --subset {output.subsets:q} 2>&1 | tee {log:q}"


rule find_near_duplicates:
    """Near-duplicate questions within and across benchmarks, and which of them leak."""
    input:
        bases=expand("results/samples/{dataset}.bases.jsonl", dataset=DATASETS),
        samples=expand("results/excam40k/{dataset}/{split}.parquet", dataset=DATASETS, split=["train", "dev", "test"]),
    output:
        near_duplicates="results/excam40k/near-duplicates.csv",
    log:
        "logs/find_near_duplicates.log",
    benchmark:
        "benchmarks/find_near_duplicates.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        runtime=lambda w, attempt: 60 * attempt,
    params:
        version=versions("find_near_duplicates"),
    shell:
        "python -m scripts find_near_duplicates --bases {input.bases:q} --samples {input.samples:q}"
        " --near-duplicates {output.near_duplicates:q} 2>&1 | tee {log:q}"


rule mix_samples:
    """Mix all datasets' train sets, or all but one, without near-duplicates of other benchmarks' test rows."""
    input:
        samples=train_sets,
        near_duplicates="results/excam40k/near-duplicates.csv",
    output:
        mixture="results/mixtures/{trained_on}/{split}.jsonl",
        counts="results/mixtures/{trained_on}/{split}.counts.json",
    log:
        "logs/mix_samples/{trained_on}/{split}.log",
    benchmark:
        "benchmarks/mix_samples/{trained_on}/{split}.tsv"
    wildcard_constraints:
        trained_on=one_of(EXPERIMENT.mixtures),
        split="train|dev",
    conda:
        "../envs/data.yaml"
    resources:
        runtime=lambda w, attempt: 60 * attempt,
    params:
        version=versions("mix_samples"),
        rows=f"--rows={EXPERIMENT.training.rows}" if EXPERIMENT.training.rows else "",
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts mix_samples --samples {input.samples:q} --trained-on {wildcards.trained_on:q}"
        " {params.rows:q} --near-duplicates {input.near_duplicates:q} --seed {params.seed:q}"
        " --mixture {output.mixture:q} --counts {output.counts:q} 2>&1 | tee {log:q}"

"""The provenance of results: the chain from an artifact back to the raw shards, with hashes, reasons and rows.

`snakemake_records` reads Snakemake's records of each output, `recorded_hashes` collects all hashes, `chain` walks back
and verifies, `page` prints the chain, `reasons` asks Snakemake what would run. `copies` is what a run keeps inside
results/ for people who have only a copy of it, `crate` writes the run as an RO-Crate of `crate_entities`. Nothing else
here writes a file.
"""

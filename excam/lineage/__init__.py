"""The provenance of results: the chain from an artifact back to the raw shards, with hashes and rows.

`snakemake_records` reads Snakemake's records of each output, `recorded_hashes` collects all hashes, `chain` walks back
and verifies, `page` prints the chain, `cell_rows` has the rows of a cell. `copies` is what a run keeps inside results/
for people who have only a copy of it. Nothing else here writes a file.
"""

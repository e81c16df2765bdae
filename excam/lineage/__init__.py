"""Where a number comes from: the chain from any artifact back to the raw shards, its hashes, its reasons, its rows.

`snakemake_records` reads what Snakemake keeps about every output, `evidence` gathers every recorded hash, `chain` walks
back and verifies, `page` writes the chain down, `reasons` asks Snakemake what would run, `rows` opens a number of a
figure into the rows behind it. `copies` is what a run keeps inside results/ for whoever has a copy of it alone, `crate`
writes the run as an RO-Crate of `crate_entities`. Nothing else here writes a file.
"""

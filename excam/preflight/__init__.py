"""Checks before a long run: models, rows, disks and memory are tested on the machines that will do the work.

`trial` runs one test in a process of its own and records how it ended; `asking`, `stepping` and `rows` are the tests,
`node` describes the machine. `work` counts the work of the experiment, `checks` compares, `page` prints. Nothing is
fetched from a hub, and no server is asked.
"""

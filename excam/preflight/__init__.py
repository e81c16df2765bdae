"""What is looked at before a long run: models, rows, disks and memory tried on the machines that will do the work.

`trial` runs one try in a process of its own and writes down how it ended; `asking`, `stepping` and `rows` are what is
tried, `node` is where. `work` is what the experiment will do, `checks` compares, `page` tells. Nothing is fetched from
a hub, and no server is asked.
"""

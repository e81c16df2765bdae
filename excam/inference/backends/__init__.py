"""Ways of running a model, one module each; the folder is the registry (`backend:` of an entry of `models:`).

A module has a class `Backend`, `VERSION` (raised if the same request gets another answer), `PACKAGES` (installed
packages whose version affects answers) and
`open_model(name, model, files, adapter, identity) -> Backend`, where `files` is the folder of the weights (None for a
server) and `adapter` that of a LoRA adapter (None: no adapter). If loading takes minutes it also has
`open_shared(name, model, files, rank) -> Backend`, whose `use` switches the adapter, so that jobs can share it (see
`hosting`).
"""

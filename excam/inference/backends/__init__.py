"""Ways of running a model: one module each, the directory is the registry (`backend:` of an entry of `models:`).

A module has a class `Backend`, `PACKAGES` (installed packages whose version moves an answer) and
`open_model(name, model, files, adapter, identity) -> Backend`, where `files` is the folder of the weights (None behind
a server) and `adapter` that of a LoRA adapter (None: the model as it comes). Where loading takes minutes it also has
`open_shared(name, model, files, rank) -> Backend`, whose `use` changes the adapter: jobs share it (`hosting`).
"""

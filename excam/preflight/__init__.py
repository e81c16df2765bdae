"""Look before a long run: what is here of models, rows, disk and cards beside what the configuration asks for.

`needs` reads the configuration, `checks` this machine, `work` counts what is to be done, `page` prints. Nothing is
fetched, opened or asked. A file counts as here only if its manifest has the settings of this configuration.
"""

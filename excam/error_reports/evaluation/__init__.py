"""From judgements to the numbers of cells, tables and figures (ExCAM §4, §5). Frames in, dictionaries out.

Only `cells` reads files.
"""

"""From judgements to the numbers of cells, tables and figures (ExCAM §4, §5). Frames in, dictionaries out.

The files of cells and of printed claims are read here, in `cells` and `claims`; the rest knows no files.
"""

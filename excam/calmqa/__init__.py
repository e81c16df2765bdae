"""CaLMQA's score of long answers: S = S_surf × S_fact × S_rel (Arora et al. 2025, arXiv 2406.17761).

Stages, each a file: questions -> answers -> surface -> translations -> claims -> evidence -> verdicts -> relevance ->
scores -> tables. `surface` needs no model; `asks` holds the questions to models and their parsers; `numbers` the score.
"""

"""Macaron: a benchmark from templates (Elsetohy et al., 2026), and what models answer to it.

An author fills a template in English and translates it. Each scenario gives six instances: a multiple-choice question,
a true and a false statement, each in English and in the local language. The steps, in the order of their use:
`templates`, `campaign`, `scenarios` or `official`, `proofread`, `derive`, `asks`, `answers`, `numbers`, `pages`.
"""

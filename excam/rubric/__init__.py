"""The rubric of the cross-cultural scoring manual: people and models rate responses from 1 to 5 by the same rules.

The steps, in the order of their use: `manual`, `responses`, `rules`, `ratings`, `asks` and `metric` for models,
`quality`, `pages`, `changes`.
"""

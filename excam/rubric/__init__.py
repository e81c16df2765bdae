"""The rubric of the cross-cultural scoring manual: people and models rate responses from 1 to 5 by the same rules.

The steps, in the order of their use: `manual` and `show`, `responses`, `rules`, `form` and `campaign` for people,
`asks` and `metric` for models, `ratings` and `checks`, `quality`, `study`, `pages`, `changes`.
"""

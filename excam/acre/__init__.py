"""CulT-Eval and ACRE (seed title: Benchmarking Cross-Cultural Cultural Understanding in Machine Translation).

Did a culture-loaded expression survive translation? ACRE asks first whether the translation means what the explication
of the expression says; where it does, how faithful and how clear it is. In the order of their use: `items`,
`translations`, `errors`, `equivalent`, `asks`, `quality`, `sentence_metrics`, `numbers`, `pages`.
"""

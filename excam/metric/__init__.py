"""The metric for people who score their own texts: pairs in, error reports and scores out, and what they tell."""

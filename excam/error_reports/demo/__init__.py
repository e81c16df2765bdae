"""`excam demo`: ten answers, a few documents, and a judge that asks no model."""

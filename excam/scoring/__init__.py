"""Scoring of users' files with any metric: rows in, results out; their comparison, display, page and server."""

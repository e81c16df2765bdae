"""Judged rows to browse: every row of a system on one page, both reports beside the texts that they are about."""

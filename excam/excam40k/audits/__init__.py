"""Audits of ExCAM40k on its rows: leaks, shortcuts, balance, inventory, licences.

An audit is a pure function from frames to checks and tables; `checks` defines them, `page` prints them.
"""

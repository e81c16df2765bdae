"""What ExCAM40k must be, checked on the rows as they are: leaks, shortcuts, balance, inventory, licences.

An audit is a pure function from frames to checks and tables; `checks` holds the words, `page` what a person reads.
"""

"""Human judgements of synthetic errors: drawing a campaign, and the tables of the answers."""

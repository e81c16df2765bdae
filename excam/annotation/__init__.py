"""Human annotation of synthetic errors: a campaign of tasks, the page, the store, and the answers."""

"""Human validation of synthetic errors (spec 67-76): a campaign of tasks, the page, the store, what people answered."""

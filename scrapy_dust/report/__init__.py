"""Pages for a browser without a network: the report of a run of dustmine, and the live report of a crawl."""

"""Journals: the files that list the URLs that rules suppressed, and what became of each URL."""

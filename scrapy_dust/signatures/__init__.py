"""Stores of signatures: the content of each URL, and the URL that showed each content first; in a file, or in Redis."""

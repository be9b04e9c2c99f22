"""Guarded edits of URLs, proposed from pairs of URLs that show one page: proposed, weighed by the log, admitted,
limited.
"""

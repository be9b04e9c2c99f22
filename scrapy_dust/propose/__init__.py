"""Proposing rules: by DustBuster, and by edits between URLs of one page."""

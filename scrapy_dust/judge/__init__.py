"""Compares two answers of a site: which page to fetch next, and whether both URLs show one page."""

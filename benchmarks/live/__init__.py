"""What a crawl of real software is spared by rules, and what it loses: see ``__main__.py``."""

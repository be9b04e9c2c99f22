"""Learns rules while a crawl goes on. All modules are pure except `process.py`: they take records of pages, and
return decisions.
"""

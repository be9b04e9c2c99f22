"""Learns rules while a crawl goes on. All modules are pure except `process.py`: they are told what was seen, and
answer what to do.
"""

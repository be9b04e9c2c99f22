"""Rules are learned while a crawl goes on. Pure but for `process.py`: what is seen is told, what to do is answered."""

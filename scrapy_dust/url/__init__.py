"""URLs and their parts: a URL is taken apart without loss, and put together again."""

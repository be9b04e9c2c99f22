"""Which content was seen under which URL: embedded and shared by the crawls of a machine, or in Redis by many."""

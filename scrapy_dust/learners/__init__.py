"""The published methods and our own behind one interface, to compare them on a log. No crawl imports this room."""

"""Mining a log on one machine, in shards, or on Spark."""

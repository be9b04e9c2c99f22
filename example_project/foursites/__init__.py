"""A Scrapy project that follows every link of four sites."""

"""The core: URLs and pages of a log in, rules and verdicts out. No I/O, no clock, no chance, no Scrapy."""

"""The parts of scrapy-dust that Scrapy calls during a crawl: log, fingerprints, dupefilter, scheduler, tests of rules."""

import os

BOT_NAME = "foursites"

SPIDER_MODULES = ["foursites.spiders"]
NEWSPIDER_MODULE = "foursites.spiders"

# All there is to say about scrapy-dust.
ADDONS = {"scrapy_dust.Addon": 900}

USER_AGENT = "foursites"
ROBOTSTXT_OBEY = True

CONCURRENT_REQUESTS = 8
CONCURRENT_REQUESTS_PER_DOMAIN = 8
DOWNLOAD_DELAY = 0

# The four sites exist on this machine only: `python -m dusty_web` shows them, as an HTTP proxy.
EXAMPLE_WEB = os.environ.get("EXAMPLE_WEB", "http://127.0.0.1:8998")
DOWNLOADER_MIDDLEWARES = {"foursites.middlewares.ExampleWebMiddleware": 740}

FEED_EXPORT_ENCODING = "utf-8"
LOG_LEVEL = "INFO"

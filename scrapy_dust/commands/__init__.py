"""The commands that scrapy-dust adds to ``scrapy``: dustmine, dustrules, dustpages, dusteval, dustcompletion."""

"""Sphinx: the pages are Markdown, the tables of settings and stats are made by `generate.py`."""

import tomllib
from pathlib import Path

_pyproject = tomllib.loads(Path(__file__, "..", "..", "pyproject.toml").resolve().read_text("utf-8"))

project = "scrapy-dust"
author = "The scrapy-dust developers"
copyright = author
release = version = _pyproject["project"]["version"]

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
# GitHub's names for headings, so that a link works there and here.
myst_heading_anchors = 3
exclude_patterns = ["_build"]

# The schema of rule books, for editors: https://…/schema.json.
html_extra_path = ["../scrapy_dust/rule_book/schema.json"]

html_theme = "furo"
html_title = f"{project} {release}"
# Diagrams are drawn where these pages are read in the repository; here they are shown as they are written.
suppress_warnings = ["misc.highlighting_failure"]

"""Turns the bytes of pages into words, sketches and units. No other room reads what pages say."""

#: Goes up when a page's words, shingles or sketch change; sketches of different versions are not compared.
SKETCH_VERSION = 1

#: Goes up when the units of a page, or of what a callback took from it, change; units of different versions are not compared.
UNITS_VERSION = 13

"""Bytes in, words and sketches out: the only room that reads what pages say."""

#: Goes up when a page's words, shingles or sketch change; sketches of different versions are not compared.
SKETCH_VERSION = 1

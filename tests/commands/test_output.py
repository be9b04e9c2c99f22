"""Errors of files that a command has not named by itself."""

from __future__ import annotations

import subprocess
import sys

STOPS = """
from scrapy_dust.commands.output import stop_output
try:
    open("no/such.file")
except OSError as error:
    stop_output("dustmine", error)
"""


def test_an_error_of_a_file_names_the_file_and_not_the_output():
    done = subprocess.run([sys.executable, "-c", STOPS], capture_output=True, text=True, check=True)
    assert done.stderr == (
        "scrapy dustmine: no/such.file: No such file or directory. Check the path and its permissions.\n"
    )

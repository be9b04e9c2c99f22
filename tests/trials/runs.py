"""Starts runs of `scrapy dustmine`, each in a fork of a process that has loaded everything, so that it starts at once.

Reads command lines as JSON lists, one a line; writes the process id of each run, and when it has ended, its status.
"""

from __future__ import annotations

import json
import os
import sys

from scrapy.cmdline import execute

from scrapy_dust.commands import dustmine, mining  # noqa: F401  So that forks have them.
from scrapy_dust.trials import run  # noqa: F401


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                execute(["scrapy", *json.loads(line)])
            except SystemExit as end:
                sys.stdout.flush()
                os._exit(int(end.code or 0))
            os._exit(9)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()

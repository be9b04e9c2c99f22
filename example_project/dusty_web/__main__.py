"""``python -m dusty_web [--port N] [--seed N]``: serve the web until interrupted."""

from __future__ import annotations

import argparse
import asyncio
import contextlib

from dusty_web import SEED
from dusty_web.server import serve

parser = argparse.ArgumentParser(
    prog="python -m dusty_web", description="Serves four dusty sites on loopback."
)
parser.add_argument("--port", type=int, default=8998, help="0: any that is free (default: %(default)s)")
parser.add_argument("--seed", type=int, default=SEED, help="another seed, another web (default: %(default)s)")
options = parser.parse_args()
with contextlib.suppress(KeyboardInterrupt):
    asyncio.run(serve(options.seed, options.port))

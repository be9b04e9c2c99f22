"""Starts the processes that work beside a crawl."""

from __future__ import annotations

import os
import subprocess
import sys


def start_beside(module: str, **environment: str) -> subprocess.Popen[bytes]:
    """A process that runs *module*, with pipes to and from it that never block. *environment*: more for it."""
    known = os.environ | {
        # What this process can import, whoever put it on the path.
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        # Pages are small; threads of numpy's would only take memory.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    process = subprocess.Popen(  # noqa: S603  One of our own modules.
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env=known | environment,
    )
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        os.set_blocking(pipe.fileno(), False)
    return process

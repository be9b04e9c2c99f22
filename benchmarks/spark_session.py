"""Several runs of `scrapy dustmine` in one Spark session: ``python -m benchmarks.spark_session ARGUMENTS [KILL] …``.

For each: its arguments as a JSON list, and the process group to kill in the middle, 0 for none. In the middle is when some of the
parts of the sites are mined and others are not: what the killed worker has of the logs is lost too, and read anew. For each
one line of JSON is printed, as by the command; before that of one with a kill, how many parts were done by then.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkContext
from pyspark.sql import SparkSession
from scrapy.cmdline import execute


def main() -> None:
    session = SparkSession.builder.appName("benchmarks.spark_session").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    # Whoever waits for it may go on.
    print(json.dumps({"application": session.sparkContext.applicationId}), flush=True)
    code = 0
    for arguments, group in zip(sys.argv[1::2], map(int, sys.argv[2::2]), strict=True):
        with _killed_in_the_middle(session.sparkContext, group):
            try:
                execute(["scrapy", *json.loads(arguments)])
            except SystemExit as end:
                code = code or int(end.code or 0)
    session.stop()
    sys.exit(code)


@contextmanager
def _killed_in_the_middle(context: SparkContext, group: int) -> Iterator[None]:
    over = threading.Event()
    waiting = threading.Thread(target=_kill, args=(context, group, over))
    if group:
        waiting.start()
    try:
        yield
    finally:
        over.set()
        if group:
            waiting.join()


def _kill(context: SparkContext, group: int, over: threading.Event) -> None:
    tracker = context.statusTracker()
    while not over.wait(0.01):
        for number in tracker.getActiveJobsIds():
            job = tracker.getJobInfo(number)
            last = (
                tracker.getStageInfo(max(job.stageIds)) if job is not None and len(job.stageIds) > 1 else None
            )
            if last is not None and 0 < last.numCompletedTasks < last.numTasks - 2:
                os.killpg(group, signal.SIGKILL)
                print(json.dumps({"done": last.numCompletedTasks, "parts": last.numTasks}), flush=True)
                return


if __name__ == "__main__":
    main()

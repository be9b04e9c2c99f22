"""Starts and ends Spark, and turns its errors into sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrapy_dust.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OPTIONS = {
    # Times of logs are in UTC, wherever a worker stands.
    "spark.sql.session.timeZone": "UTC",
    # What was found in a site, with the list of its URLs, may be more than 2 GB.
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
    # Parts are made as many as are wanted: what a site costs is not told by its bytes.
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.maxResultSize": "0",
}


@contextmanager
def session_of() -> Iterator[SparkSession]:
    """The running session of Spark, or one that ends with the block."""
    try:
        import pandas  # noqa: F401, PLC0415  Spark's Arrow functions ask for it.
        import pyarrow  # noqa: F401, PLC0415
        from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise EngineError(
            f"--engine spark needs {error.name}, which is not installed. Run `pip install scrapy-dust[spark]`."
        ) from None
    before = SparkSession.getActiveSession()
    if before is not None:
        session = before.newSession()
        for name, value in _OPTIONS.items():
            if name.startswith("spark.sql."):
                session.conf.set(name, value)
        yield session
        return
    try:
        session = SparkSession.builder.appName("scrapy dustmine").config(map=_OPTIONS).getOrCreate()
    except PySparkRuntimeError as error:
        raise EngineError(
            f"Spark did not start ({last_line_of(error)}). It needs Java 17 or newer; set JAVA_HOME."
        ) from None
    try:
        session.sparkContext.setLogLevel("ERROR")
        yield session
    finally:
        session.stop()


@contextmanager
def told_in_a_sentence() -> Iterator[None]:
    """Turn errors of Spark in the block into an `EngineError` of one sentence."""
    from py4j.protocol import Py4JError  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise EngineError(f"Spark could not do it: {last_line_of(error)}. Its log has more.") from error


def last_line_of(error: Exception) -> str:
    """The last line of *error* that says something: in a worker's traceback, the error itself."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(("at ", "JVM stacktrace", "File "))]
    return (told[-1] if told else type(error).__name__).rstrip(".")[:300]

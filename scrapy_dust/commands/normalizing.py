"""The measures of URL normalization that ``scrapy dusteval`` prints. Over several seeds, they are summed."""

from __future__ import annotations

from collections.abc import Sequence

from scrapy_dust.commands.tables import table
from scrapy_dust.learners.evaluation import Score
from scrapy_dust.learners.normalization import NOTHING, Consistency, Normalization

_HEADS = ("method", "applying", "reduction", "true positive", "judged")


def normalization_json(scores: Sequence[Score], consistency: Consistency) -> dict[str, object]:
    """The measures as a JSON object."""
    found = _summed(scores)
    return {
        "url_consistency": consistency.rate,
        "applying_rate": found.applying_rate,
        "reduction_rate": found.reduction_rate,
        "true_positive_rate": found.true_positive_rate,
        "true_positives_of": found.judged,
    }


def normalization_table(scores: Sequence[Sequence[Score]], consistency: Consistency) -> str:
    """The measures as a table, a row for each method."""
    rows = []
    for of_method in scores:
        found = _summed(of_method)
        rates = (found.applying_rate, found.reduction_rate, found.true_positive_rate)
        rows.append([of_method[0].method, *map(_rate_as_text, rates), str(found.judged)])
    said = f"URL consistency: {_rate_as_text(consistency.rate)}, of {consistency.repeated} URLs fetched more than once."
    return f"{table(_HEADS, rows, right=range(1, len(_HEADS)))}\n\n{said}"


def _summed(scores: Sequence[Score]) -> Normalization:
    """The measures of URL normalization, summed over all seeds."""
    return sum((score.normalization for score in scores), NOTHING)


def _rate_as_text(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.4f}"

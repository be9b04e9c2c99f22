"""Writes model cards, which tell people who find a model's file which log it learned from, how, and how good it is."""

from __future__ import annotations

from dataclasses import asdict

from scrapy_dust.neural.model import Model
from scrapy_dust.neural.training_data import TrainingData


def card_of(model: Model, data: TrainingData) -> str:
    """The model card of *model*, in Markdown."""
    lines = [
        f"# The URLs of {model.site}",
        "",
        "A network that translates a URL of the site into the one that stands for its page (Xu, Liu, Callan, SIGIR 2017).",
        "It proposes rules to `scrapy dustmine`. What it says is no evidence: do not leave out URLs by it alone.",
        "",
        "## Data",
        "",
        f"- {len(data.pairs):,} pairs learned from, {len(data.held_out):,} held out; digest `{model.trained_on}`.",
        f"- {data.clusters:,} pages, and {data.duplicates:,} other URLs of them.",
        f"- {data.untold:,} pairs were left out, since they can be neither spelled nor copied.",
        f"- {len(model.vocabulary.functions):,} function tokens.",
        "",
        "## Scores",
        "",
        "Of what is held out, or, where nothing is, of all." if not data.held_out else "Of what is held out.",
        "",
        *(f"- {name.replace('_', ' ')}: {_number_text(value)}" for name, value in model.scores.items()),
        f"- epochs: {len(model.state.epochs)}, in {model.state.epochs[-1].seconds:.0f} seconds",
        f"- numbers learned: {model.size:,}",
        "",
        "## Settings",
        "",
        *(f"- {name.replace('_', ' ')}: {value}" for name, value in asdict(model.params).items()),
        "",
    ]
    return "\n".join(lines)


def _number_text(value: float) -> str:
    return f"{value:.4f}" if isinstance(value, float) and not value.is_integer() else f"{value:,.0f}"

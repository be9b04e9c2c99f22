"""Parameters of the network: of reading, of training and of decoding; and the two choices of them that users have."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Loss(StrEnum):
    """The loss function of training."""

    ACE = "ace"  #: formula 3 of the paper: what is not the token counts too, each by itself
    CE = "ce"  #: the usual cross-entropy


class Optimizer(StrEnum):
    """The optimizer of training."""

    SGD = "sgd"
    ADAM = "adam"


class Precision(StrEnum):
    """The precision of numbers in training."""

    FP32 = "fp32"
    BF16 = "bf16"  #: products of matrices in 16 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkParams:
    """The parameters as the paper has them. What the paper does not say is marked as ours."""

    # How URLs are read (§2.1).
    #: Tokens give the URL back; else static delimiters are discarded, and ``/a/`` is ``/a``.
    whole: bool = False
    frequency: float = 0.01  #: share of URLs, from which on a token is a function token
    copies: bool = False  #: arguments are pointed at (Gu et al. 2016), not numbered
    singles: bool = False  #: URLs without duplicates are learned from too: they stay as they are
    # The network (§2.4).
    embedding: int = 512
    hidden: int = 512
    # Its training.
    loss: Loss = Loss.ACE
    optimizer: Optimizer = Optimizer.SGD
    rate: float = 0.5  #: ours
    clip: float = 5.0  #: ours: the longest gradient
    batch: int = 20
    by_length: bool = False  #: batches of like lengths, without what is only filled up
    distinct: bool = False  #: equal pairs once in an epoch, and weighed by how many they are
    steps: int = 1  #: an epoch has as many batches at least, if need be of the same pairs again
    precision: Precision = Precision.FP32
    epochs: int = 30  #: ours: at most
    patience: int = 3  #: ours: epochs without a better loss on what is held out, after which it stops
    held_out: float = 0.1  #: ours: share of the clusters
    # How it is asked.
    beam: int = 1  #: 1: greedily
    confidence: float = 0.0  #: the least probability of a translation that is believed
    plausible: bool = False  #: only forms that the log's URLs have
    seed: int = 0


PAPER = NetworkParams()

#: Smaller, and trained in a fraction of the time. The sizes were chosen for time, not for scores.
PLUS = NetworkParams(
    whole=True,
    copies=True,
    singles=True,
    embedding=128,
    hidden=128,
    loss=Loss.CE,
    optimizer=Optimizer.ADAM,
    rate=2e-3,
    clip=1.0,
    batch=16,
    by_length=True,
    distinct=True,
    steps=20,
    epochs=60,
    patience=8,
    beam=3,
    confidence=0.5,
    plausible=True,
)

VARIANTS = {"paper": PAPER, "plus": PLUS}

"""Trains a network: epochs over the pairs until the pairs that are held out are translated no better.

With the same pairs, parameters, machine and number of threads it makes the same network, whether or not it was
interrupted: the order of an epoch is made from the seed and its number alone, and `State` holds the rest.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

import numpy as np
import torch
from torch import Tensor

from scrapy_dust.neural.network import Network, best_device, new_network, pad_rows
from scrapy_dust.neural.params import Loss, NetworkParams, Optimizer, Precision
from scrapy_dust.neural.training_state import Arrays, Epoch, Pair, State
from scrapy_dust.neural.vocabulary import BEGIN, EOS, PAD, Vocabulary

_Weighted = tuple[Pair, float]


def train(
    pairs: Sequence[Pair],
    held_out: Sequence[Pair],
    vocabulary: Vocabulary,
    params: NetworkParams,
    state: State | None = None,
) -> Iterator[State]:
    """Train a network on *pairs*, starting from *state*; gives the state after each epoch. There must be a pair."""
    device = best_device()
    network = new_network(vocabulary, params, device)
    optimizer = _new_optimizer(network, params)
    state = state or State()
    if state.epochs:
        load_weights(network, state.weights)
        _load_optimizer(optimizer, network, state.optimizer)
    learned, kept = _with_weights(pairs, params), _with_weights(held_out, params)
    began = time.monotonic() - (state.epochs[-1].seconds if state.epochs else 0.0)
    while not state.is_over(params.epochs, params.patience):
        number = len(state.epochs) + 1
        loss = _run_epoch(network, optimizer, learned, params, number, device)
        with torch.no_grad():
            judged = _run_epoch(network, None, kept, params, number, device) if kept else None
        epochs = (*state.epochs, Epoch(number, loss, judged, time.monotonic() - began))
        weights = weights_of(network)
        is_best = State(epochs).best_epoch == epochs[-1]
        state = State(
            epochs, weights, weights if is_best else state.best, _optimizer_state(optimizer, network)
        )
        yield state


def weights_of(network: Network) -> Arrays:
    """The weights of *network* as plain numbers."""
    return {name: value.detach().cpu().numpy().copy() for name, value in network.state_dict().items()}


def load_weights(network: Network, weights: Arrays) -> None:
    """Put *weights* into *network*."""
    network.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})


def _with_weights(pairs: Sequence[Pair], params: NetworkParams) -> list[_Weighted]:
    """*pairs* with their weights in training. With *distinct*, a repeated pair weighs more, but not as often as it occurs."""
    if not params.distinct:
        return [(pair, 1.0) for pair in pairs]
    return [(pair, math.log2(1 + count)) for pair, count in sorted(Counter(pairs).items())]


def _run_epoch(
    network: Network,
    optimizer: torch.optim.Optimizer | None,
    pairs: Sequence[_Weighted],
    params: NetworkParams,
    number: int,
    device: torch.device,
) -> float:
    """The mean loss of a token over one epoch. Without an *optimizer* nothing is learned."""
    network.train(optimizer is not None)
    total, tokens = 0.0, 0.0
    # What is only judged is looked at once.
    times = 1 if optimizer is None else max(1, math.ceil(params.steps * params.batch / len(pairs)))
    for batch in _batches(list(pairs) * times, params, number):
        loss, weight = _loss_of_batch(network, batch, params, device)
        if optimizer is not None:
            optimizer.zero_grad()
            (loss / weight).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), params.clip)
            optimizer.step()
        total += float(loss.detach())
        tokens += weight
    return total / tokens


def _batches(pairs: Sequence[_Weighted], params: NetworkParams, number: int) -> list[list[_Weighted]]:
    """*pairs* in batches, in an order that depends on the seed and the *number* of the epoch alone."""
    chance = Random(f"{params.seed} {number}")  # noqa: S311  An order, not a secret.
    order = list(pairs)
    chance.shuffle(order)
    if params.by_length:
        order.sort(key=lambda one: (len(one[0].ids), len(one[0].symbols)))
    batches = [order[at : at + params.batch] for at in range(0, len(order), params.batch)]
    chance.shuffle(batches)
    return batches


def _loss_of_batch(
    network: Network, batch: Sequence[_Weighted], params: NetworkParams, device: torch.device
) -> tuple[Tensor, float]:
    """The weighted sum of losses over all tokens, and the sum of weights."""
    ids, lengths = pad_rows([pair.ids for pair, _ in batch], device)
    targets, _ = pad_rows([(*pair.symbols, EOS) for pair, _ in batch], device)
    said, _ = pad_rows([(BEGIN, *pair.symbols) for pair, _ in batch], device)
    with torch.autocast(device.type, torch.bfloat16, enabled=params.precision is Precision.BF16):
        read, state = network.read(ids, lengths)
        scores, _ = network(read, said, state)
    known = targets != PAD
    weights = torch.tensor([weight for _, weight in batch], device=device)[:, None] * known
    logs = torch.log_softmax(scores.float(), dim=2)
    loss = -logs.gather(2, targets[..., None])[..., 0]
    if params.loss is Loss.ACE:
        loss = loss + _loss_of_other_tokens(logs, targets)
    return (loss.where(known, 0.0) * weights).sum(), float(weights.sum())


def _loss_of_other_tokens(logs: Tensor, targets: Tensor) -> Tensor:
    """The second half of the paper's formula 3: all tokens but the right one should have no probability."""
    wrong = torch.log1p(-logs.exp().clamp(max=1 - 1e-6))
    return wrong.gather(2, targets[..., None])[..., 0] - wrong.sum(dim=2)


def _new_optimizer(network: Network, params: NetworkParams) -> torch.optim.Optimizer:
    if params.optimizer is Optimizer.ADAM:
        return torch.optim.Adam(network.parameters(), lr=params.rate)
    return torch.optim.SGD(network.parameters(), lr=params.rate)


def _optimizer_state(optimizer: torch.optim.Optimizer, network: Network) -> Arrays:
    """The optimizer's values for each weight, by the weight's name."""
    return {
        f"{name}:{what}": value.detach().cpu().numpy().copy()
        for name, weight in network.named_parameters()
        for what, value in optimizer.state[weight].items()
        if isinstance(value, Tensor)
    }


def _load_optimizer(optimizer: torch.optim.Optimizer, network: Network, arrays: Arrays) -> None:
    """Put the values *arrays*, as `_optimizer_state` made them, into *optimizer*."""
    for name, weight in network.named_parameters():
        for key, value in arrays.items():
            if key.startswith(f"{name}:"):
                held = torch.from_numpy(np.array(value))
                # Counts of steps stay where the program runs, whatever the weights are on.
                optimizer.state[weight][key.partition(":")[2]] = held.to(weight.device) if held.ndim else held

"""The network: a recurrent encoder that reads a URL, and a decoder that spells its canonical form (paper §2.4, figure 3).

One layer of gated recurrent units each, which share the embeddings of tokens. With *copies* the decoder may also
point at a place of what was read: the scores of pointing and of spelling share one probability, and the decoder is
told what the encoder knew where it last pointed (Gu, Lu, Li, Li, 2016: CopyNet).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from scrapy_dust.neural.params import NetworkParams
from scrapy_dust.neural.vocabulary import PAD, UNKNOWN, Vocabulary


class Read:
    """A batch of URLs as the encoder has read it."""

    def __init__(self, ids: Tensor, seen: Tensor, may_copy: Tensor) -> None:
        self.ids, self.seen, self.may_copy = ids, seen, may_copy

    def select(self, rows: Tensor) -> Read:
        """The URLs of the batch at the positions *rows*."""
        return Read(self.ids[rows], self.seen[rows], self.may_copy[rows])


class Network(nn.Module):
    """The network, with PyTorch."""

    def __init__(self, vocabulary: Vocabulary, params: NetworkParams) -> None:
        super().__init__()
        self.size, self.first_argument = len(vocabulary), vocabulary.first_argument
        self.copies = vocabulary.copies
        self.embed = nn.Embedding(self.size, params.embedding, padding_idx=PAD)
        self.encoder = nn.GRU(params.embedding, params.hidden, batch_first=True)
        told = params.hidden if self.copies else 0
        self.decoder = nn.GRU(params.embedding + told, params.hidden, batch_first=True)
        self.spell = nn.Linear(params.hidden, self.size)
        self.point = nn.Linear(params.hidden, params.hidden) if self.copies else None

    def read(self, ids: Tensor, lengths: Tensor) -> tuple[Read, Tensor]:
        """The encoder's output for a batch of URLs, and the decoder's first state."""
        packed = pack_padded_sequence(self.embed(ids), lengths, batch_first=True, enforce_sorted=False)
        outputs, state = self.encoder(packed)
        seen, _ = pad_packed_sequence(outputs, batch_first=True, total_length=ids.shape[1])
        return Read(ids, seen, ids >= self.first_argument), state

    def forward(self, read: Read, said: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The scores of the symbol that follows each symbol of *said*, and the network's state after the last symbol."""
        outputs, state = self.decoder(self._decoder_input(read, said), state)
        scores = self.spell(outputs)
        scores[..., PAD] = -torch.inf
        if self.point is None:
            return scores, state
        # Arguments are copied; their kinds are read and never said.
        scores[..., self.first_argument :] = -torch.inf
        places = outputs @ torch.tanh(self.point(read.seen)).transpose(1, 2)
        places = places.masked_fill(~read.may_copy[:, None, :], -torch.inf)
        return torch.cat((scores, places.to(scores.dtype)), dim=2), state

    def _decoder_input(self, read: Read, said: Tensor) -> Tensor:
        """The embeddings of the symbols *said*; with copies, beside what the encoder knew of the place that was copied."""
        if not self.copies:
            return self.embed(said)
        place = (said - self.size).clamp(min=0)
        copied = said >= self.size
        token = torch.where(copied, read.ids.gather(1, place), said.clamp(max=self.size - 1))
        known = read.seen.gather(1, place[..., None].expand(-1, -1, read.seen.shape[2]))
        return torch.cat((self.embed(token), known * copied[..., None]), dim=2)


def pad_rows(rows: list[tuple[int, ...]], device: torch.device) -> tuple[Tensor, Tensor]:
    """*rows* as one matrix, filled up at the end, and their lengths. No row is empty."""
    rows = [row or (UNKNOWN,) for row in rows]
    width = max(map(len, rows))
    matrix = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows], device=device)
    return matrix, torch.tensor([len(row) for row in rows])


def best_device() -> torch.device:
    """The GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def new_network(vocabulary: Vocabulary, params: NetworkParams, device: torch.device) -> Network:
    """An untrained network whose weights depend on the seed alone. PyTorch's own random state is not touched."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(params.seed)
        network = Network(vocabulary, params)
    network.to(device)
    return network

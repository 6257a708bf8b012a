"""Protocols: how a linear classifier on fixed embeddings is trained, tuned and tested.

`honest`, the default, is ours and takes any split with validation nodes (`probe`). `paper` is the
probe of the UGCL authors' code, without tuning. The others are rules of published harnesses, each
on its own random splits of all labelled nodes, written from their code:

- `bgrl` (nerdslab/bgrl, `bgrl/logistic_regression_eval.py`, `fit_logistic_regression`; BLNN and
  SGRL have the same function): 20 % training and 80 % test nodes. There are no validation nodes: C
  is chosen by five random halvings of the training nodes, and all 20 % train the final classifier
  (`one_vs_rest_probe`). Reported is the mean accuracy over splits: 3 for each trained model by
  default and in SGRL, 20 in BLNN. For WikiCS, which comes with splits, it has another rule.
- `pygcl` (PyGCL/PyGCL, `get_split` of `GCL/eval/eval.py` and `LREvaluator`): asked for 10 %
  training and 80 % test nodes, `get_split` calls the 80 % validation nodes and the remaining 10 %
  test nodes (its issues 53, 65 and 76). 5,000 steps of Adam (`AdamProbe`). Every 20 steps the 80 %
  decide whether the weights are the best so far; the best are tested on the 10 %. Reported is the
  micro-F1, which is the accuracy, on one split for each trained model.
- `gca` (CRIPAC-DIG/GCA, `log_regression` of `pGRACE/eval.py` as called by `train.py`): 10 %
  training, 10 % validation and 80 % test nodes. 3,000 steps of Adam with biases that start from
  zero, else as `pygcl`; the 10 % decide. Reported is the accuracy on one split, a new one for each
  evaluation. For WikiCS it has its splits and 800 steps.

Where ours deviates: fractions of the nodes are rounded, not truncated; nodes that the settings of
the controls were chosen on are not tested; the random numbers are our own. `bgrl` uses L-BFGS with
warm starts instead of liblinear, which has the same minimum and takes about a quarter of the time.
All are reported as the mean over the splits of `evaluate_run(splits=...)`, with its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl._utils.suggest import unknown
from ugcl.data.splits import Fractions, Split
from ugcl.evaluation.harnesses import AdamProbe, one_vs_rest_probe
from ugcl.evaluation.probe import Score, honest_probe
from ugcl.typing import Embeddings, LabelArray, Protocol

Probe = Callable[[Embeddings, LabelArray, Split, str, int], Score]
"""From embeddings, labels, a split, the data set's name and a seed to a score."""


@dataclass(frozen=True)
class Rule:
    """What a protocol is.

    Attributes:
        probe: the classifier and how its hyperparameters are chosen.
        fractions: the protocol's own random splits; None if it takes any split.
        validates: whether the probe needs validation nodes.
    """

    probe: Probe
    fractions: Fractions | None = None
    validates: bool = True


PROTOCOLS: Mapping[Protocol, Rule] = {
    "honest": Rule(honest_probe),
    "paper": Rule(AdamProbe(300, weight_decay={"citeseer": 0.01}), validates=False),
    "bgrl": Rule(one_vs_rest_probe, (0.2, 0.0), validates=False),
    "pygcl": Rule(AdamProbe(5000, check_every=20, random_bias=True), (0.1, 0.8)),
    "gca": Rule(AdamProbe(3000, check_every=20), (0.1, 0.1)),
}


def is_protocol(name: str | None) -> TypeGuard[Protocol]:
    """Return whether this is the name of a protocol that scores embeddings."""
    return name in PROTOCOLS


def linear_probe(
    embeddings: Embeddings,
    labels: LabelArray,
    split: Split,
    protocol: Protocol = "honest",
    *,
    dataset: str = "",
    seed: int = 0,
) -> Score:
    """Train a linear classifier on the training nodes and score it on the test nodes.

    Args:
        embeddings: N x D, dense or SciPy sparse (never converted to dense as a whole).
        labels: N classes.
        split: node numbers of "train", "val" and "test". A protocol with its own splits means those
            of `split_of(graph, PROTOCOLS[protocol].fractions, seed)`, but any other can be scored.
        protocol: which probe.
        dataset: the data set's name; the authors' probe has a weight decay for CiteSeer only.
        seed: initial weights of the probes that are trained by Adam.
    """
    check_split(labels, split, protocol)
    return PROTOCOLS[protocol].probe(embeddings, labels, split, dataset, seed)


def check_split(labels: LabelArray, split: Split, protocol: Protocol) -> None:
    """Refuse an unknown protocol and a split that lacks nodes or classes for it."""
    if protocol not in PROTOCOLS:
        raise UGCLError(unknown("protocol", protocol, tuple(PROTOCOLS)))
    for part in ("train", "val", "test") if PROTOCOLS[protocol].validates else ("train", "test"):
        if part not in split or split[part].size == 0:
            raise UGCLError(
                f"the {protocol} probe needs '{part}' nodes, but the split has none: use another "
                "split (`split`, `split_seed`) or, without validation nodes, the protocol 'paper'"
            )
    if np.unique(labels[split["train"]]).size < 2:
        raise UGCLError(
            "the training nodes are all of one class: label more nodes, or use another split "
            "(`split`, `split_seed`)"
        )

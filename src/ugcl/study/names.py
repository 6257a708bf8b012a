"""The names of the studies, for the command line."""

from __future__ import annotations

from typing import Literal, get_args

Backend = Literal["processes", "dask", "ray"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)

STUDIES = {
    "datasets": "Table II: the data sets, computed from the graphs.",
    "classification": "Table I: accuracy of all methods and controls.",
    "arxiv": "Table III: accuracy on ogbn-arxiv.",
    "scope": "Table IV: accuracy for n = 1 to 10, with lower bound and homophily.",
    "ablation": "Table V: ablations of UGCL.",
    "power-time": "Table VI: the time of a power of the adjacency.",
    "hidden": "Figure 5: accuracy against the hidden size.",
    "joint": "Figure 6: accuracy against sample size and n, as heat maps.",
    "convergence": "Theorem 1: distance to the component subspace against n.",
    "subsampling": "Proposition 1: sparsity and homophily of sampled subgraphs.",
    "diagrams": "Figures 1 to 4, drawn.",
    "unify": "Contrastive methods with tuned contextual scopes.",
    "does-training-pay": "Gain of every method over the best control.",
    "protocols": "Accuracy under the evaluation protocols of other papers.",
    "compare": "Methods against the first one, paired by seed, split and node.",
    "all": "All of these but compare.",
}
"""The studies with a description; the data of each are in `ugcl.study.catalogue`."""

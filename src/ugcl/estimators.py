"""One estimator for each method: `ugcl.UGCL`, `ugcl.GRACE`, ...

The classes are generated from the settings of the methods; `estimators.pyi`, which
`tools/make_stubs.py` writes, declares them for type checkers and editors.
"""

from __future__ import annotations

from ugcl.embedder import Classifier, Embedder, named_estimator

ESTIMATORS = {
    "UGCL": "ugcl",
    "MultiScope": "multiscope",
    "UGCLMean": "ugcl-mean",
    "UGCLSmooth": "ugcl-smooth",
    "UGCLSig": "ugcl-sig",
    "UGCLNoSample": "ugcl-no-sample",
    "UGCLNoPower": "ugcl-no-power",
    "GRACE": "grace",
    "GMI": "gmi",
    "DGI": "dgi",
    "MVGRL": "mvgrl",
    "GCA": "gca",
    "BGRL": "bgrl",
    "SubGCon": "subg-con",
    "GGD": "ggd",
    "CCASSG": "cca-ssg",
    "DeepWalk": "deepwalk",
    "Node2Vec": "node2vec",
    "GAE": "gae",
    "VGAE": "vgae",
    "RawFeatures": "raw",
    "SmoothedFeatures": "smooth",
    "PCAFeatures": "pca",
    "SIGNFeatures": "sign",
    "StructureFeatures": "structure",
    "MLPClassifier": "mlp",
    "GCNClassifier": "gcn",
    "GATClassifier": "gat",
    "SGCClassifier": "sgc",
}
"""Names of the classes, and their methods."""

globals().update(
    {name: named_estimator(name, method, __name__) for name, method in ESTIMATORS.items()}
)
__all__ = ["ESTIMATORS", "Classifier", "Embedder", *ESTIMATORS]

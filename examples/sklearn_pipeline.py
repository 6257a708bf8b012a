"""scikit-learn pipeline from node ids over embeddings to classes, with a grid search."""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import ugcl


def main() -> None:
    """Choose the scope and the classifier by cross-validation on labelled nodes of CiteSeer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    args = parser.parse_args()

    graph = ugcl.load_graph("citeseer")
    assert graph.labels is not None
    labelled = np.concatenate([graph.splits["train"], graph.splits["val"]])
    test = graph.splits["test"]

    # Training sees the whole graph without labels, so nothing leaks between the folds. The six
    # candidates in three folds need two trainings: equal settings share one.
    pipeline = Pipeline(
        [
            ("nodes", ugcl.NodeTransformer(graph, ugcl.UGCL(hidden=128, epochs=args.epochs))),
            ("classify", LogisticRegression(max_iter=1000)),
        ]
    )
    grid = {"nodes__estimator__scope": [0, 5], "classify__C": [10.0, 100.0, 1000.0]}
    search = GridSearchCV(pipeline, grid, cv=3)
    search.fit(labelled, graph.labels[labelled])

    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        print(f"{params}: {100 * score:.1f} % in cross-validation")
    print(f"best: {search.best_params_}")
    print(f"test accuracy {100 * search.score(test, graph.labels[test]):.1f} %")


if __name__ == "__main__":
    main()

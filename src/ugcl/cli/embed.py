"""`ugcl embed`: export the embeddings of a run, or embed another graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from ugcl import runs
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import Result, command, option
from ugcl.cli.options import (
    GraphArgument,
    data_root,
    device,
    graph_options,
    run_argument,
    threads,
    use_threads,
    verify,
)
from ugcl.cli.output import say

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ugcl.graph import Graph

FORMATS = ".npy, .parquet, .csv, .txt or .vec (word2vec), .tsv (TensorBoard), .npz (sparse)"


@command(
    "embed",
    examples=(
        "ugcl embed runs/mine --out embeddings.parquet",
        "ugcl embed runs/mine --edges later.csv --features later-features.csv --out later.csv",
    ),
)
@run_argument
@graph_options
@option(
    "--out", required=True, metavar="FILE", help=f"the file to write; by its extension {FORMATS}"
)
@option(
    "--unknown-features",
    type=click.Choice(("ignore", "error")),
    default="ignore",
    help="what to do about features that training did not have (default: ignore, and say how many)",
)
@data_root
@device
@threads
@verify
def embed(
    run: str,
    graph: GraphArgument,
    out: str,
    unknown_features: Any,
    data_root: str | None,
    device: str | None,
    threads: int | None,
    verify: bool,
) -> Result:
    """Write a run's embeddings, or those of a graph that it was not trained on."""
    import scipy.sparse as sp

    from ugcl.runs.export import check_ending, write_embeddings

    file = Path(out)
    check_ending(file)
    if (file.parent / "config.toml").is_file():
        raise UGCLError(
            f"{file.parent} is a run folder, which holds its own results: choose another --out"
        )
    trained = runs.load_run(run, verify=verify)
    source = graph.resolve(trained.config.graph_files)
    if source is None:
        embeddings, ids, labels = trained.embeddings(), trained.ids(), trained.labels()
    else:
        use_threads(threads or trained.config.threads)
        loaded = runs.load_graph_for(trained, source, data_root, unknown_features=unknown_features)
        for note in loaded.notes:
            say(f"  {note}")
        embeddings, ids = trained.embed(loaded, device=device), _ids(loaded)
        labels = _labels(loaded)
    written = write_embeddings(file, embeddings, ids, labels)
    rows, columns = embeddings.shape
    sparse = bool(sp.issparse(embeddings))
    files = [str(path) for path in written]
    kind = "sparse" if sparse else "dense"
    first = f"{file}: {rows:,} nodes, {columns:,} columns, float32, {kind}"
    value = {"file": out, "files": files, "shape": [rows, columns], "sparse": sparse}
    return Result(value, lambda: print(first, *files[1:], sep="\n"))


def _ids(graph: Graph) -> npt.NDArray[Any]:
    import numpy as np

    return np.arange(graph.num_nodes) if graph.ids is None else graph.ids


def _labels(graph: Graph) -> npt.NDArray[np.str_] | None:
    import numpy as np

    if graph.labels is None:
        return None
    names = graph.class_names or [str(number) for number in range(graph.num_classes)]
    return np.array([*names, ""])[graph.labels]

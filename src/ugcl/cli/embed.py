"""`ugcl embed`: export the embeddings of a run, or embed another graph."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, get_args

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
    timeout,
    use_threads,
    verify,
)
from ugcl.cli.output import Clock, resumable, say
from ugcl.typing import FloatName

FORMATS = (
    ".npy, .parquet, .safetensors, .csv, .txt or .vec (word2vec), .tsv (TensorBoard), .npz (sparse)"
)


@command(
    "embed",
    examples=(
        "ugcl embed runs/mine --out embeddings.parquet",
        "ugcl embed runs/mine --edges later.csv --features later-features.csv --out later.csv",
        "ugcl embed runs/mine graphs/large --out large.npy --memory 8GB",
    ),
)
@run_argument
@graph_options
@option(
    "--out", required=True, metavar="FILE", help=f"the file to write; by its extension {FORMATS}"
)
@option(
    "--memory",
    metavar="SIZE",
    help="memory to use, as in 4GB, not counting mapped files (default: half of what is free); "
    "what does not fit is kept in OUT.partial until FILE is written",
)
@option(
    "--dtype",
    type=click.Choice(get_args(FloatName)),
    default="float32",
    help="type of the numbers; float16 for .npy, .parquet and .safetensors (default: float32)",
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
@timeout
@verify
def embed(timeout: float, **options: Any) -> Result | int:
    """Write a run's embeddings, or those of a graph that it was not trained on."""
    if "RANK" not in os.environ:
        return _embed(**options)  # needs PyTorch only where something is computed
    from ugcl.engine.ranks import joined

    with joined(timeout) as ranks:
        result = _embed(ranks.rank, **options)
        return 0 if ranks.rank else result


def _embed(
    rank: int = 0,
    *,
    run: str,
    graph: GraphArgument,
    out: str,
    memory: str | None,
    dtype: FloatName,
    unknown_features: Any,
    data_root: str | None,
    device: str | None,
    threads: int | None,
    verify: bool,
) -> Result:
    import scipy.sparse as sp

    from ugcl._utils.sizes import parse_size
    from ugcl.runs.export import check_ending, write_embeddings

    file = Path(out)
    check_ending(file, dtype)
    limit = None if memory is None else parse_size(memory)
    if (file.parent / "config.toml").is_file():
        raise UGCLError(
            f"{file.parent} is a run folder, which holds its own results: choose another --out"
        )
    trained = runs.load_run(run, verify=verify)
    source = graph.resolve(trained.config.graph_files)
    if source is None and rank:
        return Result({}, lambda: None)
    if source is None:
        embeddings, ids, labels = trained.embeddings(), trained.ids(), trained.labels()
        written = write_embeddings(file, embeddings, ids, labels, dtype=dtype, progress=Clock(say))
        (rows, columns), sparse = embeddings.shape, bool(sp.issparse(embeddings))
    else:
        use_threads(threads or trained.config.threads)
        loaded = runs.load_graph_for(trained, source, data_root, unknown_features=unknown_features)
        for note in loaded.notes:
            say(f"  {note}")
        with resumable("the same command continues"):
            (rows, columns), written = runs.embed_to_file(
                trained,
                loaded,
                file,
                device=device,
                memory=limit,
                dtype=dtype,
                progress=Clock(say),
            )
        sparse = file.suffix == ".npz"
    files = [str(path) for path in written]
    first = f"{file}: {rows:,} nodes, {columns:,} columns, {dtype}, {'sparse' * sparse or 'dense'}"
    value = {"file": out, "files": files, "shape": [rows, columns], "sparse": sparse}
    return Result(value, lambda: print(first, *files[1:], sep="\n"))

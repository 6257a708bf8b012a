"""`ugcl cluster`: clusters of a run's embeddings, without labels."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import rich_click as click

from ugcl import runs
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import Result, Value, command, integer, number, option
from ugcl.cli.options import run_argument, threads, use_threads, verify
from ugcl.cli.output import print_table
from ugcl.methods import params


def _k(value: Any) -> Any:
    return value if value == "auto" else int(value)


@command(
    "cluster",
    examples=(
        "ugcl cluster runs/mine --k auto --out clusters.parquet",
        "ugcl cluster runs/mine --algorithm leiden --out clusters.csv",
    ),
)
@run_argument
@option("--out", required=True, metavar="FILE", help="the table to write: .parquet or .csv")
@option(
    "--k",
    type=Value(params.Param("", "an integer or 'auto'", _k, "K|auto")),
    default="auto",
    help="number of clusters of k-means (default: auto, by the silhouette)",
)
@option(
    "--algorithm",
    type=click.Choice(("kmeans", "hdbscan", "leiden")),
    default="kmeans",
    help="k-means, dense regions, or communities of the graph of nearest neighbours, which find "
    "the number of clusters themselves (default: kmeans)",
)
@option(
    "--min-size", type=integer(2), default=10, help="nodes of a cluster, for hdbscan (default: 10)"
)
@option(
    "--resolution",
    type=number(above=0),
    default=1.0,
    metavar="R",
    help="of leiden: more gives more clusters (default: 1)",
)
@option("--seed", type=integer(0), default=0, help="seed of random starts (default: 0)")
@threads
@verify
def cluster(
    run: str,
    out: str,
    k: Any,
    algorithm: Any,
    min_size: int,
    resolution: float,
    seed: int,
    threads: int | None,
    verify: bool,
) -> Result:
    """Cluster a run's embeddings without labels, and write the cluster of each node."""
    from ugcl._utils.files import check_writable
    from ugcl.runs.clusters import ENDINGS, find_clusters, write_clusters

    file = Path(out)
    if file.suffix not in ENDINGS:
        raise UGCLError(f"--out {file} must end in {' or '.join(ENDINGS)}")
    check_writable(file)
    trained = runs.load_run(run, verify=verify)
    use_threads(threads or trained.config.threads)
    started = time.monotonic()
    found = find_clusters(
        trained.embeddings(),
        k,
        algorithm=algorithm,
        min_size=min_size,
        resolution=resolution,
        seed=seed,
    )
    write_clusters(file, found, trained.ids())
    value = {"file": out, **found.to_json(), "seconds": round(time.monotonic() - started, 3)}

    def show() -> None:
        rows = [[str(i), f"{size:,}"] for i, size in enumerate(found.sizes)]
        if value["noise"]:
            rows.append(["none", f"{value['noise']:,}"])
        print_table(["cluster", "nodes"], rows)
        print(f"silhouette: {'-' if found.silhouette is None else f'{found.silhouette:.3f}'}")
        print(f"{file}: {len(found.sizes)} clusters of {found.members.size:,} nodes")

    return Result(value, show)

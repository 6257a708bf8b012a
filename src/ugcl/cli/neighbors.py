"""`ugcl neighbors`: the nodes that are most similar to a node."""

from __future__ import annotations

from ugcl import runs
from ugcl.cli.command import Result, argument, command, integer, option
from ugcl.cli.options import run_argument, verify
from ugcl.cli.output import print_table


@command("neighbors", examples=("ugcl neighbors runs/citeseer 7 -k 10",))
@run_argument
@argument("node", help="the node's id (its number, if it has no other)")
@option("-k", type=integer(1), default=10, metavar="K", help="how many (default: 10)")
@option(
    "--approximate",
    is_flag=True,
    help="use an index, which is built once and stored in RUN: for millions of nodes; may miss a "
    "neighbour",
)
@verify
def neighbors(run: str, node: str, k: int, approximate: bool, verify: bool) -> Result:
    """List the nodes whose embeddings are nearest to a node's, by the cosine."""
    from ugcl.runs.neighbors import row_of

    trained = runs.load_run(run, verify=verify)
    nearest = trained.neighbors(node, k, approximate=approximate)
    ids = trained.ids()
    value = {
        "id": node if ids.dtype.kind == "U" else int(node),
        "neighbors": [{"id": name, "similarity": cosine} for name, cosine in nearest],
    }
    labels = trained.labels()
    header = ["id", "similarity"]
    rows = [[str(name), f"{cosine:.4f}"] for name, cosine in nearest]
    if labels is not None:
        header.append("label")
        for row, (name, _) in zip(rows, nearest, strict=True):
            row.append(str(labels[row_of(ids, name)]) or "-")
    return Result(value, lambda: print_table(header, rows))

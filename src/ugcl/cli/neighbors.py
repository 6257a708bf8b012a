"""`ugcl neighbors`: the nodes that are most similar to a node."""

from __future__ import annotations

from typing import Any

from ugcl import runs
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import Result, argument, command, integer, option
from ugcl.cli.options import run_argument, verify
from ugcl.cli.output import print_table


@command(
    "neighbors",
    examples=(
        "ugcl neighbors runs/citeseer 7 -k 10",
        "ugcl neighbors runs/mine 7 --names people.csv --name full_name",
    ),
)
@run_argument
@argument("node", help="the node's id (its number, if it has no other)")
@option("-k", type=integer(1), default=10, metavar="K", help="how many (default: 10)")
@option(
    "--name",
    metavar="COL",
    help="column of display names, in the labels or features of RUN, or in --names",
)
@option("--names", metavar="FILE", help="a table with ids and display names")
@option(
    "--approximate",
    is_flag=True,
    help="use an index, which is built once and stored in RUN: for millions of nodes; may miss a "
    "neighbour",
)
@verify
def neighbors(
    run: str,
    node: str,
    k: int,
    name: str | None,
    names: str | None,
    approximate: bool,
    verify: bool,
) -> Result:
    """List the nodes whose embeddings are nearest to a node's, by the cosine."""
    from ugcl.runs.neighbors import row_of

    if names is not None and name is None:
        raise UGCLError("--names needs --name COL, its column of names")
    trained = runs.load_run(run, verify=verify)
    columns: dict[str, Any] = {}
    if name is not None:
        from ugcl.runs.names import display_names

        columns["name"] = display_names(trained, name, names)
    if (labels := trained.labels()) is not None:
        columns["label"] = labels
    nearest = trained.neighbors(node, k, approximate=approximate)
    ids = trained.ids()

    def about(id: int | str) -> dict[str, str | None]:
        return {key: str(values[row_of(ids, id)]) or None for key, values in columns.items()}

    queried = node if ids.dtype.kind == "U" else int(node)
    found = [{"id": id, "similarity": cosine, **about(id)} for id, cosine in nearest]
    value = {"id": queried, **about(queried), "neighbors": found}
    header = ["id", *(["name"] if "name" in columns else []), "similarity"]
    header += ["label"] if "label" in columns else []
    rows = [[_text(each[key]) for key in header] for each in found]
    return Result(value, lambda: print_table(header, rows))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return "-" if value is None else str(value)

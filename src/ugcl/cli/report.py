"""`ugcl report`: an HTML report of one or more runs."""

from __future__ import annotations

from pathlib import Path

from ugcl import data, runs
from ugcl import report as reports
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import Result, argument, command, integer, option
from ugcl.cli.options import data_root, threads, use_threads, verify


@command("report", examples=("ugcl report runs/citeseer --out page.html",))
@argument("run", nargs=-1, required=True, help="finished run folders of the same graph")
@option("--out", required=True, metavar="FILE", help="the HTML file to write")
@option(
    "--splits",
    type=integer(2),
    default=10,
    metavar="J",
    help="number of random splits to score (default: 10)",
)
@option("--labels", metavar="FILE", help="labels for a graph without labels")
@option("--label", metavar="COL", advanced=True, help="its column of labels")
@option("--id", "id_column", metavar="COL", advanced=True, help="its column of ids")
@option("--seed", type=integer(0), default=0, help="seed of the map (default: 0)")
@threads
@data_root
@verify
def report(
    run: tuple[str, ...],
    out: str,
    splits: int,
    labels: str | None,
    label: str | None,
    id_column: str | None,
    seed: int,
    threads: int | None,
    data_root: str | None,
    verify: bool,
) -> Result:
    """Write an HTML report of one or more runs: map, scores, loss, scope."""
    from ugcl._utils.files import check_writable
    from ugcl.cli.callbacks import Stages

    file = Path(out)
    if file.suffix not in (".html", ".htm"):
        raise UGCLError(f"--out {file} must end in .html")
    check_writable(file)
    trained = [runs.load_run(path, verify=verify) for path in run]
    first = trained[0].config
    threads = threads or first.threads
    use_threads(threads)
    of_labels = None
    if labels is not None:
        stored_id = "" if first.graph_files is None else first.graph_files.id
        of_labels = data.GraphFiles(
            edges=first.graph, labels=labels, label=label or "", id=id_column or stored_id
        )
    with Stages() as stages:
        gathered = reports.gather(
            trained,
            splits=splits,
            labels=of_labels,
            data_root=data_root,
            threads=threads,
            seed=seed,
            progress=stages,
        )
    reports.write_page(gathered, file)
    size = file.stat().st_size
    verdict = reports.verdict(gathered)
    last = f"{file}: {size / 1e6:.1f} MB, open it in a browser"
    value = {"file": out, "bytes": size, "verdict": verdict}
    return Result(value, lambda: print(verdict, last, sep="\n"))

"""Print the tables of the documentation from results/*.jsonl, or put them into the pages.

    python tools/make_tables.py [TABLE ...]
    python tools/make_tables.py --write [PAGE ...]

Without arguments it prints all tables. `--write` replaces each table of a page by the current one,
found by its first line, and its footnotes. A test checks that the pages contain them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from statistics import fmean

from cells import (
    Rows,
    best_control,
    gain_over_control,
    interval,
    load,
    mean_of,
    mean_of_control,
    mean_std,
    scored_controls,
    short_gain,
    summary,
    variants,
)
from collect import RESULTS, Record, find_record
from gain_tables import (
    embedding_parts,
    full_width,
    gains,
    ingredients,
    overview,
    stopping,
    task_gains,
)
from study_tables import (
    StudyTable,
    convergence,
    datasets,
    protocols_computers,
    protocols_photo,
    subsampling,
)
from ugcl.bench.front import peer_table, summarise
from ugcl.bench.libraries.registry import PEERS
from ugcl.data import DATASETS
from ugcl.evaluation import CONTROLS
from ugcl.methods import METHODS
from ugcl.study.table import FOOTNOTES


def bench(name: str) -> Record:
    """Return a record of `bench.jsonl`."""
    record = find_record(load("bench"), name=name)
    assert record is not None, name
    return record


def render(rows: Rows) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = ["|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|" for row in rows]
    columns = lines[0].count("|") - 1
    return [lines[0], "|" + "---|" * columns, *lines[1:]]


def footnotes(table: Callable[[], Rows]) -> str:
    """Return the sentence that explains the marks of a table, "" where it has none."""
    return table.footnotes() if isinstance(table, StudyTable) else ""


def updated(page: str, tables: Sequence[Callable[[], Rows]]) -> str:
    """Return the text of a page with its tables replaced by the current ones.

    A table is found by its first line; of several with the same line, each one after the other.
    """
    lines, found = page.split("\n"), dict[str, int]()
    for table in tables:
        new = render(table())
        start = lines.index(new[0], found.get(new[0], -1) + 1)
        found[new[0]] = end = start
        while lines[end].startswith("|"):
            end += 1
        if lines[end + 1 : end + 2] and lines[end + 1].startswith(tuple(FOOTNOTES)):
            end = lines.index("", end + 1)
        note = footnotes(table)
        lines[start:end] = [*new, *(["", note] if note else [])]
    return "\n".join(lines)


# docs/guide.md


def families() -> Rows:
    """Accuracy of embeddings without training on synthetic graphs; the best is bold."""
    yield "family", "`--feature-scaling`", "X", "A X", "A² X", "A⁵ X", "eigenvectors of A"
    for record in load("families"):
        if record["feature_scaling"] != "none" and record["family"] != "noise-features":
            continue
        means = [fmean(values) for values in record["accuracy"].values()]
        cells = [f"**{mean:.1f}**" if mean == max(means) else f"{mean:.1f}" for mean in means]
        yield f"`{record['family']}`", f"`{record['feature_scaling']}`", *cells


# docs/results


def one_split() -> Rows:
    """Accuracy on one split, by both probes."""
    controls = scored_controls()
    yield "data set", "preset", "authors' probe", "published", "honest probe", *controls
    for study in load("accuracy"):
        for variant in variants(study):
            honest = summary(study, variant, "honest")
            yield (
                study["graph"],
                f"`{variant}`",
                mean_std(summary(study, variant, "paper")["accuracy"]),
                mean_std(study["published"]),
                mean_std(honest["accuracy"]),
                *(mean_of_control(honest["controls"], control) for control in controls),
            )


def many_splits() -> Rows:
    """Accuracy of the honest probe on random splits, and the gain over the best control."""
    controls = scored_controls()
    yield "data set", "preset", "splits", "UGCL", *controls, "gain over best control"
    for study in load("accuracy"):
        for variant in variants(study):
            row = summary(study, variant, "honest")
            yield (
                study["graph"],
                f"`{variant}`",
                str(row["splits"]),
                mean_std(row["accuracy_mean"]),
                *(mean_of_control(row["controls_mean"], control) for control in controls),
                gain_over_control(row),
            )


def choices() -> Rows:
    """UGCL's settings compared on validation nodes.

    Settings that equal those of `fast` for a graph without its own preset are left out.
    """
    yield "data set", "settings", "seeds", "validation accuracy", "seconds"
    base = METHODS["ugcl"].presets["fast"].base
    compared = [record for record in load("choices") if record["method"] == "ugcl"]
    for name in DATASETS:
        of_graph = [record for record in compared if record["graph"] == name]
        for record in sorted(of_graph, key=lambda record: -record["mean"]):
            params = record["settings"]
            shown = [f"{n}={params[n]}" for n in base if n == "scope" or params[n] != base[n]]
            yield (
                name,
                f"`{', '.join(shown)}`",
                str(len(record["scores"])),
                f"{record['mean']:.2f}",
                f"{fmean(record['seconds']):.0f}",
            )


def negatives() -> Rows:
    """Sampled negatives compared with all negatives."""
    return _paired(lambda variant: "negatives=" in variant)


def fast() -> Rows:
    """`fast` compared with `authors`."""
    return _paired(lambda variant: variant == "fast")


def _paired(selected: Callable[[str], bool]) -> Rows:
    yield "data set", "preset", "accuracy", "reference", "accuracy", "difference", "seeds"
    for study in load("paired"):
        for row in study["summary"]:
            if selected(row["variant"]):
                yield (
                    study["graph"],
                    f"`{row['variant']}`",
                    mean_std(row["accuracy"]),
                    f"`{study['against']}`",
                    mean_std(row["against_accuracy"]),
                    interval(row["difference"], 2),
                    str(row["seeds"]),
                )


# docs/results/methods


def methods() -> Rows:
    """Accuracy of the other methods and of the ablations."""
    return _unsupervised(load("methods"))


def _unsupervised(studies: list[Record]) -> Rows:
    yield (
        *("data set", "method", "preset", "authors' probe", "published", "honest probe"),
        *("splits", "many splits", "untrained", "best control", "gain over best control"),
    )
    for study in studies:
        for variant in variants(study):
            honest = summary(study, variant, "honest")
            yield (
                study["graph"],
                study["method"],
                f"`{variant}`",
                mean_std(summary(study, variant, "paper")["accuracy"]),
                mean_std(study["published"]),
                mean_std(honest["accuracy"]),
                str(honest["splits"]),
                mean_std(honest["accuracy_mean"]),
                f"{honest['controls_mean']['untrained'][0]:.1f}",
                best_control(honest),
                gain_over_control(honest),
            )


def tuned() -> Rows:
    """Gain of a scope chosen on validation nodes over the method's default scope."""
    yield (
        *("data set", "method", "seeds", "splits", "default scopes", "accuracy"),
        *("chosen training scopes", "gain", "chosen readout scopes", "gain"),
    )
    for study in load("tuned"):
        cells = []
        for part in ("training", "readout"):
            counts = study[part]["chosen"].items()
            cells.append(", ".join(f"{scope} ({count})" for scope, count in counts))
            cells.append(interval(study[part]["gain"], 2))
        yield (
            study["graph"],
            study["method"],
            str(study["seeds"]),
            str(study["splits"]),
            f"{study['own']['scope']}, {study['own']['readout_scope']}",
            mean_std(study["accuracy"]),
            *cells,
        )


def each_scope() -> Rows:
    """Gain of every scope over the method's default scope."""
    scopes = {
        "training": ("0", "2", "5", "10", "component", "graph"),
        "readout": ("0", "2", "5", "10"),
    }
    yield "data set", "method", *(f"{part} {s}" for part in scopes for s in scopes[part])
    for study in load("tuned"):
        cells = []
        for part, names in scopes.items():
            default, *rest = study[part]["scopes"]
            gains = {str(row["scope"]): short_gain(row["gain"]) for row in rest}
            gains[str(default["scope"])] = "default"
            cells += [gains[name] for name in names]
        yield study["graph"], study["method"], *cells


# docs/results/baselines


def unsupervised() -> Rows:
    """Accuracy of the baselines that learn without labels."""
    return _unsupervised([s for s in load("baselines") if not METHODS[s["method"]].supervised])


def supervised() -> Rows:
    """Accuracy of the baselines that learn from labels."""
    yield (
        *("data set", "method", "preset", "one split", "published", "splits", "many splits"),
        *("best control", "gain over best control", "seconds"),
    )
    for study in load("baselines"):
        for variant in variants(study) if METHODS[study["method"]].supervised else ():
            row = summary(study, variant, "predictions")
            yield (
                study["graph"],
                study["method"],
                f"`{variant}`",
                mean_std(row["accuracy"]),
                mean_std(study["published"]),
                str(row["splits"]),
                mean_std(row["accuracy_mean"]),
                best_control(row),
                gain_over_control(row),
                f"{row['training_seconds'][0]:.0f}",
            )


def tasks() -> Rows:
    """Link prediction and clustering of each method and of the controls."""
    yield "data set", "method", "seeds", "AUC", "AP", "Hits@100", "NMI", "ARI", "accuracy"
    by_graph: dict[str, dict[str, list[Record]]] = {}
    for record in load("tasks"):
        by_graph.setdefault(record["graph"], {}).setdefault(record["method"], []).append(record)
    for graph, by_method in by_graph.items():
        links, clusters = (by_method["ugcl"][0][task]["controls"] for task in ("links", "clusters"))
        for control in reversed([control for control in CONTROLS if control in links]):
            if control == "untrained":  # depends on the method
                continue
            scores = _task_scores([links[control]], [clusters.get(control)])
            yield graph, f"{control} (control)", "1", *scores
        for method, records in by_method.items():
            scores = _task_scores([r["links"] for r in records], [r["clusters"] for r in records])
            yield graph, f"`{method}`", str(len(records)), *scores


def _task_scores(links: list[Record], clusters: list[Record | None]) -> Iterator[str]:
    yield from (mean_of([row[key] for row in links]) for key in ("auc", "average_precision"))
    yield mean_of([row["hits"]["100"] for row in links])
    scored = [row for row in clusters if row is not None]
    for key in ("nmi", "ari", "accuracy"):
        yield mean_of([row[key][0] for row in scored]) if scored else "-"


# docs/bench


def steps() -> Rows:
    """Time and memory of a training step."""
    yield (
        *("data set", "preset", "S", "D", "n", "mm", "step", "loss", "loss, unblocked", "naive"),
        *("peak memory", "in S x D arrays"),
    )
    for row in bench("bench")["steps"]:
        times = [row[f"{part}_mm"] for part in ("step", "loss", "loss_unblocked", "naive")]
        yield (
            row["graph"],
            f"`{row['preset']}`",
            f"{row['S']:,}",
            f"{row['D']:,}",
            str(row["n"]),
            f"{1000 * row['mm_seconds']:,.0f} ms",
            *("-" if time is None else f"{time:.2f} mm" for time in times),
            f"{row['peak_bytes'] / 1e6:,.0f} MB",
            f"{row['peak_arrays']:.1f}",
        )


def parts() -> Rows:
    """Milliseconds of the parts of a training step."""
    rows = bench("bench")["steps"]
    yield "data set", "preset", *rows[0]["parts_mm"]
    for row in rows:
        times = (1000 * row["mm_seconds"] * time for time in row["parts_mm"].values())
        yield row["graph"], f"`{row['preset']}`", *(f"{time:,.1f}" for time in times)


def multiscope_steps() -> Rows:
    """Time of a training step of multiscope and of its parts, in units of the floor."""
    rows = [row for row in load("bench") if row["name"].startswith("multiscope-")]
    yield "data set", "S", "D", "floor", "step / floor", *rows[0]["parts"]
    for row in rows:
        times = row["step"], *row["parts"].values()
        yield (
            row["graph"],
            f"{row['S']:,}",
            f"{row['D']:,}",
            f"{1000 * row['floor_seconds']:,.0f} ms",
            *(f"{time:.2f}" for time in times),
        )


def growth() -> Rows:
    """Time and memory of a training step as one size grows."""
    yield "size", "values", "time, ms", "exponent", "memory, MB", "exponent"

    def scaled(values: list[float], factor: float) -> str:
        return ", ".join(f"{value * factor:,.0f}" for value in values)

    for name, row in bench("bench")["scaling"].items():
        if name != "base":
            yield (
                name,
                scaled(row["sizes"], 1),
                scaled(row["seconds"], 1000),
                f"{row['seconds_exponent']:.2f}",
                scaled(row["peak_bytes"], 1e-6),
                f"{row['bytes_exponent']:.2f}",
            )


def embedding() -> Rows:
    """Time and memory of embedding a graph, and time of its sparse products."""
    yield "edges", "seconds", "sparse products alone", "ratio", "memory, MB"
    rows = bench("embed")
    columns = (rows["sizes"], rows["seconds"], rows["products_seconds"], rows["peak_bytes"])
    for size, seconds, products, peak in zip(*columns, strict=True):
        yield (
            f"{size:,}",
            f"{seconds:.3f}",
            f"{products:.3f}",
            f"{seconds / products:.1f}",
            f"{peak / 1e6:,.0f}",
        )
    exponents = {name: f"{rows[name]:.2f}" for name in rows if name.endswith("_exponent")}
    yield (
        "exponent of the last three",
        exponents["seconds_exponent"],
        exponents["products_exponent"],
        "",
        exponents["bytes_exponent"],
    )
    yield "exponent of the last two", exponents["beyond_cache_exponent"], "", "", ""


ALL_PAIRS, SAMPLED_PAIRS = "all pairs, in blocks of rows", "sampled pairs"
PAIRS = {
    "gmi": f"{ALL_PAIRS}; edges as a sparse matrix",
    "dgi": "each node and one summary",
    "mvgrl": "each node and two summaries; sparse diffusion",
    "bgrl": "each node and itself",
    "subg-con": "each node and its subgraph, 500 at a time",
    "ggd": "single nodes",
    "cca-ssg": "pairs of columns",
}
"""The pairs in a method's loss, where they are not all pairs."""


def memory() -> Rows:
    """Peak memory in gigabytes of each method on each data set."""
    peaks = {
        (row["preset"], row["method"], row["graph"]): f"{row['peak_bytes'] / 1e9:.2f}"
        for row in bench("memory")["rows"]
    }
    graphs = [name for name in DATASETS if any(graph == name for *_, graph in peaks)]
    yield "method", "preset", "pairs in the loss", *graphs
    for preset, method in product(("paper", "fast"), METHODS):
        cells = [peaks.get((preset, method, graph), "-") for graph in graphs]
        if any(cell != "-" for cell in cells):
            pairs = PAIRS.get(method, ALL_PAIRS)
            if preset == "fast":
                pairs = pairs.replace(ALL_PAIRS, SAMPLED_PAIRS)
            yield f"`{method}`", f"`{preset}`", pairs, *cells


def peer_list() -> Rows:
    """The peers of other libraries and what they compute."""
    yield "name", "library", "what it computes"
    for peer in PEERS.values():
        yield f"`{peer.name}`", peer.package, peer.about


def peers() -> Rows:
    """Time, memory and accuracy of other libraries and of this one."""
    yield from peer_table(summarise(load("peers")))


def working_memory() -> Rows:
    """Working memory of training in megabytes, ours and that of other implementations."""
    yield "method", "data set", "before", "now", "peer", "before / peer", "now / peer", "peer is"
    for row in bench("working_memory")["rows"]:
        before, now, peer = (row[f"{side}_bytes"] for side in ("before", "ours", "peer"))
        yield (
            f"`{row['method']}`",
            row["graph"],
            *(f"{size / 1e6:.0f}" for size in (before, now, peer)),
            *(f"{size / peer:.2f}" for size in (before, now)),
            row["peer"],
        )


# docs/scope

CRITERIA = {
    "masked-features": "masked features (`auto`)",
    "trained masked-features": "masked features, trained",
    "held-out-links": "held-out links",
    "denoising": "denoising",
    "pseudo-labels": "pseudo-labels",
    "trained pseudo-labels": "pseudo-labels, trained",
    "agreement": "agreement",
    "paper": "paper's rule",
    "train-labels": "training labels",
}
"""The criteria for choosing n and the headers of their columns."""


def regrets() -> Rows:
    """The n that `auto` chooses and its regret."""
    yield (
        *("graph", "seeds", "best n", "accuracy", "accuracy at n = 0", "n by `auto`"),
        *("accuracy", "regret"),
    )
    for study, chosen in _scope_choices():
        n = chosen["masked-features"]
        assert n is not None
        best, zero, auto = (study["scopes"][i] for i in (study["oracle"], 0, n))
        low, high = auto["regret"]["ci95"]
        yield (
            study["graph"],
            str(study["seeds"]),
            str(study["oracle"]),
            f"{best['accuracy'][0]:.1f}",
            f"{zero['accuracy'][0]:.1f}",
            str(n),
            f"{auto['accuracy'][0]:.1f}",
            f"{auto['regret']['mean']:.2f} [{low:.2f}, {high:.2f}]",
        )


def criteria() -> Rows:
    """The n of every criterion and its regret, then mean regrets."""
    yield "graph", *CRITERIA.values()
    by_kind: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    for study, chosen in _scope_choices():
        regret = {
            criterion: study["scopes"][n]["regret"]["mean"]
            for criterion, n in chosen.items()
            if n is not None
        }
        by_kind[study["graph"] in DATASETS].append(regret)
        yield (
            study["graph"],
            *(f"{chosen[c]}: {regret[c]:.2f}" if c in regret else "-" for c in CRITERIA),
        )
    for title, rows in zip(("data sets", "synthetic"), by_kind.values(), strict=True):
        means = [
            fmean(row[criterion] for row in rows if criterion in row) for criterion in CRITERIA
        ]
        yield f"**mean, {title}**", *(f"**{mean:.2f}**" for mean in means)


def _scope_choices() -> Iterator[tuple[Record, dict[str, int | None]]]:
    """Yield the accuracies of a graph at every n, and the n that each criterion chooses."""
    for study in load("scopes"):
        survey = find_record(load("surveys"), graph=study["graph"])
        assert survey is not None
        assert [row["n"] for row in study["scopes"]] == list(range(len(study["scopes"])))
        yield study, {criterion: survey["rules"][criterion]["n"] for criterion in CRITERIA}


def auto_scope() -> Rows:
    """`fast` with `--scope auto` compared with `fast`."""
    yield "data set", "n by `auto`", "n of the preset", "difference"
    for study in load("paired"):
        for row in study["summary"]:
            if row["variant"] == "fast:scope=auto":
                run = find_record(study["rows"], variant=row["variant"])
                assert run is not None
                scopes = (str(run[s]["scope"]) for s in ("settings", "against_settings"))
                yield study["graph"], *scopes, interval(row["difference"], 2)


def auto_scope_cost() -> Rows:
    """The choice of n with and without early stop and sample, and the cost of ten epochs."""
    yield (
        *("graph", "nodes", "n before", "n", "products before", "products"),
        *("CPU seconds before", "CPU seconds", "10 epochs"),
    )
    records = load("auto_scope")
    for record in (record for record in records if record["version"] == "now"):
        before = find_record(records, version="before", graph=record["graph"])
        assert before is not None
        yield (
            record["graph"],
            f"{record['nodes']:,}",
            *(str(each["n"]) for each in (before, record)),
            *(str(each["products"]) for each in (before, record)),
            *(f"{each['cpu_seconds']:.2f}" for each in (before, record)),
            f"{record['ten_epochs_cpu_seconds']:.2f}",
        )


def paper_scopes() -> Rows:
    """Lower bounds of the paper's table of scopes, ours and published."""
    yield "graph", "d", "", *(f"n = {n}" for n in range(1, 11)), "selected"
    for row in load("paper_scopes"):
        published = row["published"]
        for first, source in (
            ((row["graph"], f"{row['degree']:.2f}", "ours"), row),
            (("", "", "published"), published),
        ):
            bounds = (f"{bound:.2f}" for bound in source["lower_bound"])
            yield *first, *bounds, str(source["selected_n"])


def decay() -> Rows:
    """Distance to the component subspace, measured and bounded."""
    shown = 1, 5, 10, 20, 50, 100
    yield "graph", "components", "λ", "", *(f"n = {n}" for n in shown)
    for row in load("decay"):
        first = row["graph"], f"{row['components']:,}", f"{row['lambda']:.4f}", "d(AⁿH) / d(H)"
        yield *first, *(f"{row['measured'][n]:.3f}" for n in shown)
        yield "", "", "", "λⁿ", *(f"{row['bound'][n]:.3f}" for n in shown)


def start() -> Rows:
    """Commands from the shell in units of the import of PyTorch."""
    yield "command", "seconds", "of them training", "the rest / import of PyTorch"
    for row in bench("start")["rows"]:
        yield (
            f"`{row['command']}`",
            *(f"{row[name]:.2f}" for name in ("seconds", "training_seconds", "overhead")),
        )


def busy() -> Rows:
    """Training beside other processes."""
    yield "waiting threads", "idle machine", "busy machine", "busy / fair share"
    names = {"passive": "sleep, the default", "active": "spin"}
    for row in bench("busy")["rows"]:
        times = (f"{row[name]:.1f} s" for name in ("idle_seconds", "busy_seconds"))
        yield names[row["policy"]], *times, f"{row['factor']:.1f}"


def sparse_products() -> Rows:
    """Sparse products by several kernels."""
    rows = bench("sparse_products")["rows"]
    yield "nodes", "degree", "width", "threads", *(f"{name}, ms" for name in rows[0]["seconds"])
    for row in rows:
        sizes = (f"{row[name]:,}" for name in ("nodes", "degree", "width", "threads"))
        yield *sizes, *(f"{1000 * value:.2f}" for value in row["seconds"].values())


def memory_estimates() -> Rows:
    """Memory that is announced and needed, by data set."""
    yield "data set", "`ugcl`, announced", "peak", "`multiscope`, announced", "peak"
    records = load("memory_estimates")
    for row in (row for row in records if row["method"] == "ugcl"):
        other = find_record(records, method="multiscope", graph=row["graph"])
        assert other is not None
        sizes = (each[name] for each in (row, other) for name in ("announced_mb", "peak_mb"))
        yield row["graph"], *(f"{size:,}" for size in sizes)


def growing() -> Rows:
    """Conversion, training and embedding of growing graphs."""
    yield "nodes", "stage", "seconds", "anonymous, GB", "with mapped pages, GB", "beside it"
    for row in bench("scale")["rows"]:
        notes = {
            "convert": f"{row['convert']['per_sort']:.1f} times DuckDB's sort",
            "train": f"{1000 * row['train']['step_seconds']:.0f} ms for a step",
            "embed": f"{row['embed']['per_copy']:.1f} times the copy of its bytes",
        }
        for stage, note in notes.items():
            sizes = (
                f"{row[stage][f'{name}_bytes'] / 1e9:.1f}" for name in ("anonymous", "resident")
            )
            yield f"{row['nodes']:,}", stage, f"{row[stage]['seconds']:.0f}", *sizes, note


PAGES: dict[str, tuple[Callable[[], Rows], ...]] = {
    "README.md": (overview,),
    "docs/guide.md": (families,),
    "docs/does-training-pay.md": (
        gains,
        full_width,
        task_gains,
        embedding_parts,
        ingredients,
        stopping,
    ),
    "docs/large-graphs.md": (memory_estimates, growing),
    "docs/results/README.md": (one_split, many_splits, negatives, fast, choices),
    "docs/results/paper.md": (datasets, convergence, subsampling),
    "docs/results/protocols.md": (protocols_computers, protocols_photo),
    "docs/results/methods/README.md": (methods, tuned, each_scope),
    "docs/results/baselines/README.md": (unsupervised, supervised, tasks),
    "docs/bench/README.md": (
        steps,
        parts,
        multiscope_steps,
        growth,
        embedding,
        sparse_products,
        start,
        busy,
        memory,
        working_memory,
        peer_list,
        peers,
    ),
    "docs/scope/README.md": (
        auto_scope_cost,
        regrets,
        criteria,
        auto_scope,
        paper_scopes,
        decay,
    ),
}
"""The tables of each page."""


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if name != "--write"]
    for page, tables in PAGES.items():
        if "--write" in sys.argv:
            if not names or page in names:
                path = RESULTS.parent / page
                path.write_text(updated(path.read_text("utf-8"), tables), "utf-8")
            continue
        for table in tables:
            if not names or table.__name__ in names:
                print(f"{page}, {table.__name__}", "", *render(table()), "", sep="\n")
                if note := footnotes(table):
                    print(note, "", sep="\n")

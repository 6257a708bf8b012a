from __future__ import annotations

from pathlib import Path

import pytest

from ugcl.study import figures


@pytest.mark.parametrize("count", [1, 5])
def test_the_legend_is_inside_the_figure(count: int, tmp_path: Path) -> None:
    names = ("cora", "citeseer", "pubmed", "amazon-computers", "amazon-photo")[:count]
    curve = {"measured": [1.0, 0.5, 0.3], "bound": [1.0, 0.9, 0.8], "lambda": 0.9}
    figure = figures.plot_decay(dict.fromkeys(names, curve))
    figures.save(figure, tmp_path, "decay")
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width
    assert 0 <= box.y0 < box.y1 <= figure.bbox.height
    (axes,) = figure.axes
    assert axes.get_window_extent().height > 0.3 * figure.bbox.height

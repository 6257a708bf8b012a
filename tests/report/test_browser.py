"""The page in a real browser."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import HOSTILE, made_run
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from ugcl.report import gather, write_page
from ugcl.study import write_leaderboard

ARTEFACTS = Path(__file__).parents[2] / "build/report"
"""Screenshots are kept here, to be looked at."""


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    """Headless Chromium, or a skip that says what is missing."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("Chromium and its driver are not installed (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        *("--disable-dev-shm-usage", "--hide-scrollbars", "--enable-unsafe-swiftshader"),
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    started = webdriver.Chrome(options=options, service=service)
    yield started
    started.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of one run, and one of two."""
    folder = tmp_path_factory.mktemp("browser")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ugcl.evaluation.control_scores.RESPLITS", 1)
        patch.setenv("XDG_CACHE_HOME", str(folder))
        one, two = made_run(folder, "one"), made_run(folder, "two", epochs=2, scope=0)
        write_page(gather([one], splits=2), folder / "one.html")
        write_page(gather([one, two], splits=2), folder / "two.html")
    return {name: folder / f"{name}.html" for name in ("one", "two")}


def opened(browser: webdriver.Chrome, path: Path, *, width: int = 1200, dark: bool = False) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]},
    )
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    browser.get(path.as_uri())
    WebDriverWait(browser, 20).until(
        lambda b: b.execute_script("return document.documentElement.dataset.ready") == "yes"
    )


def pixels(browser: webdriver.Chrome, number: int = 0) -> str:
    """What a map shows, after it has been drawn."""
    browser.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));"
    )
    drawn: str = browser.execute_script(
        f"return document.getElementById('map-{number}').toDataURL()"
    )
    return drawn


def by_id(browser: webdriver.Chrome, name: str) -> Any:
    return browser.find_element(By.ID, name)


@pytest.mark.parametrize("name", ["one", "two"])
def test_it_loads_without_errors_and_without_requests(
    browser: webdriver.Chrome, pages: dict[str, Path], name: str
) -> None:
    browser.get_log("browser")
    browser.get_log("performance")
    opened(browser, pages[name])
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }
    assert asked <= {pages[name].as_uri()}
    assert browser.execute_script("return window.alerted") is None


def test_search_finds_a_node_and_its_neighbours(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["one"])
    before = pixels(browser)
    by_id(browser, "search").send_keys("node 17", Keys.ENTER)
    assert by_id(browser, "selected").text.startswith("node 17 · ")
    neighbours = by_id(browser, "neighbours-0").find_elements(By.TAG_NAME, "button")
    assert len(neighbours) == 10
    assert "cosine" in neighbours[0].text
    assert pixels(browser) != before
    first = neighbours[0].find_element(By.CLASS_NAME, "who").text
    neighbours[0].click()
    assert by_id(browser, "selected").text.startswith(first)
    by_id(browser, "search").clear()
    by_id(browser, "search").send_keys("nobody at all")
    assert by_id(browser, "search-status").text == "No id contains this text."


def test_a_hostile_name_shows_as_text(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["one"])
    by_id(browser, "search").send_keys(HOSTILE, Keys.ENTER)
    assert by_id(browser, "selected").text.startswith(HOSTILE)
    assert HOSTILE in by_id(browser, "map-legend").text
    assert browser.execute_script("return document.querySelectorAll('main script').length") == 0


def test_colouring_changes_map_and_legend(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["one"])
    colour = Select(by_id(browser, "colour"))
    names = ["label", "cluster", "component", "degree", "split", "neighbours with the same label"]
    assert [option.text for option in colour.options] == names
    seen = set()
    for name in names:
        colour.select_by_visible_text(name)
        seen.add((pixels(browser), by_id(browser, "map-legend").text))
    assert len(seen) == len(names)
    assert len({legend for _, legend in seen}) == len(names)


def test_the_keyboard_reaches_and_moves_everything(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["one"])
    reached = []
    for _ in range(12):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        reached.append(browser.switch_to.active_element.get_attribute("id"))
    assert {"theme", "colour", "search", "zoom-in", "map-0"} <= set(reached)
    canvas = by_id(browser, "map-0")
    views = [pixels(browser)]
    for key in ("+", Keys.ARROW_LEFT, Keys.ARROW_UP, "-", "0"):
        canvas.send_keys(key)
        views.append(pixels(browser))
    assert len(set(views[:4])) == 4
    assert views[-1] == views[0]
    by_id(browser, "search").send_keys("node 3")
    by_id(browser, "search").send_keys(Keys.ARROW_DOWN)
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    assert by_id(browser, "selected").text.startswith("node 3")


def test_hovering_shows_id_and_label(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["one"])
    canvas = by_id(browser, "map-0")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    data = json.loads(by_id(browser, "data").get_attribute("textContent"))
    x, y = (
        int.from_bytes(base64.b64decode(data["runs"][0][axis])[40:42], "little") / 65535 - 0.5
        for axis in "xy"
    )
    side = 0.92 * min(canvas.size["width"], canvas.size["height"])
    pointer = ActionChains(browser)
    pointer.move_to_element_with_offset(canvas, round(x * side), round(-y * side)).perform()
    tip = by_id(browser, "tip-0")
    assert tip.is_displayed()
    assert " · " in tip.text
    assert "neighbours in the graph" in tip.text


def test_selection_is_linked_across_maps(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["two"])
    before = [pixels(browser, number) for number in (0, 1)]
    by_id(browser, "search").send_keys("node 8", Keys.ENTER)
    after = [pixels(browser, number) for number in (0, 1)]
    assert all(one != other for one, other in zip(before, after, strict=True))
    for number in (0, 1):
        found = by_id(browser, f"neighbours-{number}").find_elements(By.TAG_NAME, "li")
        assert len(found) == 10


@pytest.mark.parametrize(
    ("name", "page", "width", "dark"),
    [
        ("light", "one", 1200, False),
        ("dark", "one", 1200, True),
        ("phone", "one", 390, False),
        ("compared", "two", 1200, False),
    ],
)
def test_it_fits_the_screen_in_light_and_dark(
    browser: webdriver.Chrome,
    pages: dict[str, Path],
    name: str,
    page: str,
    width: int,
    dark: bool,
) -> None:
    opened(browser, pages[page], width=width, dark=dark)
    by_id(browser, "search").send_keys("node 17", Keys.ENTER)
    pixels(browser)
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= width
    background = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(20, 23, 29)" if dark else "rgb(255, 255, 255)")
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    (ARTEFACTS / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
    by_id(browser, "theme").click()
    changed = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert changed != background


HARDWARE = """const get = WebGLRenderingContext.prototype.getParameter;
WebGLRenderingContext.prototype.getParameter = function (name) {
  const value = get.call(this, name);
  return typeof value === "string" ? "a graphics card" : value;
};"""
"""Lets software pass for a graphics card: the page draws with WebGL."""


@pytest.fixture
def graphics_card(browser: webdriver.Chrome) -> Iterator[None]:
    """A browser that claims to have a graphics card."""
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": HARDWARE})
    yield
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


@pytest.mark.usefixtures("graphics_card")
def test_webgl_draws_the_same_map(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["one"])
    if browser.execute_script("return document.documentElement.dataset.painter") != "webgl":
        pytest.skip("this Chromium has no WebGL")
    before = pixels(browser)
    assert coloured(browser) > 90
    Select(by_id(browser, "colour")).select_by_visible_text("degree")
    assert pixels(browser) != before
    by_id(browser, "map-0").send_keys("+")
    assert coloured(browser) > 90
    by_id(browser, "theme").click()
    assert coloured(browser) > 90


def coloured(browser: webdriver.Chrome) -> int:
    """Number of pixels of the first map that are neither grey nor transparent."""
    pixels(browser)
    count: int = browser.execute_script(
        """const canvas = document.getElementById("map-0");
        const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let found = 0;
        for (let i = 0; i < all.length; i += 4) {
          const [r, g, b] = [all[i], all[i + 1], all[i + 2]];
          if (all[i + 3] > 200 && Math.max(r, g, b) - Math.min(r, g, b) > 40) found++;
        }
        return found;"""
    )
    return count


def test_a_lasso_chooses_nodes_and_gives_their_ids(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["one"])
    canvas = by_id(browser, "map-0")
    browser.execute_script(
        "window.saved = [];"
        "URL.createObjectURL = (blob) => { window.saved.push(blob); return '#'; };"
    )
    by_id(browser, "lasso").click()
    width, height = canvas.size["width"] // 2 - 4, canvas.size["height"] // 2 - 4

    def draw(across: int) -> None:
        """Draw a rectangle from the upper left corner, as high as the map."""
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
        path = ActionChains(browser, duration=20)
        path.move_to_element_with_offset(canvas, -width, -height).click_and_hold()
        for x, y in ((across - width, -height), (across - width, height), (-width, height)):
            path.move_to_element_with_offset(canvas, x, y)
        path.release().perform()

    before = pixels(browser)
    draw(2 * width)
    assert by_id(browser, "lasso-count").text == "90 nodes in the lasso"
    assert "red: " in by_id(browser, "lasso-groups").text
    by_id(browser, "lasso-save").click()
    text = browser.execute_async_script("window.saved[0].text().then(arguments[0])")
    assert text.splitlines()[0] == HOSTILE
    assert "\nnode 17\n" in text
    draw(width)
    part = int(by_id(browser, "lasso-count").text.split()[0])
    assert 0 < part < 90
    assert pixels(browser) != before
    by_id(browser, "lasso-clear").click()
    assert not by_id(browser, "lassoed").is_displayed()


def test_legend_is_in_natural_order_and_highlights_a_group(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(browser, pages["one"])
    Select(by_id(browser, "colour")).select_by_visible_text("cluster")
    entries = by_id(browser, "map-legend").find_elements(By.TAG_NAME, "button")
    names = [entry.text.split(" (")[0] for entry in entries]
    assert names == [f"cluster {i + 1}" for i in range(len(names))]
    before = pixels(browser)
    entries[0].click()
    pressed = by_id(browser, "map-legend").find_elements(By.CSS_SELECTOR, "[aria-pressed=true]")
    assert [entry.text.split(" (")[0] for entry in pressed] == names[:1]
    assert pixels(browser) != before


def test_tables_that_are_cut_off_say_so(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["one"], width=390)
    cut = browser.find_elements(By.CSS_SELECTOR, ".scroll.cut + .scroll-hint")
    assert cut
    assert all("scroll" in hint.text for hint in cut)
    opened(browser, pages["one"])
    assert not browser.find_elements(By.CSS_SELECTOR, ".scroll.cut")


def test_a_hundred_thousand_points_are_drawn_in_a_moment(
    browser: webdriver.Chrome, pages: dict[str, Path], tmp_path: Path
) -> None:
    text = pages["one"].read_text("utf-8")
    found = re.search(r'(?s)(id="data">)(.*?)(</script>)', text)
    assert found is not None
    data, rng, count = json.loads(found[2]), np.random.default_rng(0), 100_000

    def packed(values: np.ndarray, kind: str) -> str:
        return base64.b64encode(values.astype(kind).tobytes()).decode()

    nodes, run = data["nodes"], data["runs"][0]
    nodes["ids"] = [f"user-{i}" for i in range(count)]
    nodes["columns"] = []
    for name in ("degree", "component", "label"):
        nodes[name] = packed(rng.integers(0, 3, count), "<i4")
    run.update({"k": 5, "neighbours": packed(rng.integers(0, count, 5 * count), "<i4")})
    run["cosines"] = packed(rng.integers(0, 32767, 5 * count), "<i2")
    run["linked"] = packed(rng.integers(0, 31, count), "<u2")
    run["clusters"] = packed(rng.integers(0, 8, count), "<i4")
    for axis in "xy":
        run[axis] = packed(rng.integers(0, 65535, count), "<u2")
    large = tmp_path / "large.html"
    inside = json.dumps(data).replace("<", "\\u003c")
    large.write_text(text[: found.start(2)] + inside + text[found.end(2) :], "utf-8")
    opened(browser, large)
    pixels(browser)
    taken = browser.execute_async_script(
        """const done = arguments[0], canvas = document.getElementById("map-0"), times = [];
        let last = performance.now(), left = 10;
        const step = () => {
          const now = performance.now(); times.push(now - last); last = now;
          if (!left--) return done(times.sort((a, b) => a - b)[5]);
          canvas.dispatchEvent(new KeyboardEvent("keydown", {key: left % 2 ? "+" : "ArrowLeft"}));
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);"""
    )
    assert taken < 200  # milliseconds a frame; 17 without a graphics card on an idle machine


def test_the_leaderboard_sorts_and_filters(browser: webdriver.Chrome, tmp_path: Path) -> None:
    def record(method: str, graph: str, accuracy: float) -> dict[str, object]:
        difference = {
            "mean": accuracy - 80,
            **{"error_splits": 0.1, "error_nodes": 0.2, "by_split": [0.0, 0.1]},
        }
        score = {
            **{"accuracy": accuracy, "accuracy_mean": accuracy, "splits": 2},
            **{"controls_mean": {"raw": 80.0}, "differences": {"raw": difference}},
        }
        result = {"scores": {"honest": score}, "training_seconds": accuracy / 10}
        return {
            **{"key": f"{method}-{graph}", "task": "accuracy", "method": method, "graph": graph},
            **{"preset": "fast", "settings": {}, "result": result},
        }

    cells = tmp_path / "cells.jsonl"
    records = [record("a", "cora", 81.0), record("b", "cora", 100.0), record("c", "pubmed", 79.0)]
    cells.write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")
    write_leaderboard([cells], tmp_path / "board.html")
    browser.get((tmp_path / "board.html").as_uri())

    def shown() -> list[str]:
        rows = browser.find_elements(By.CSS_SELECTOR, "tbody tr")
        return [row.find_elements(By.TAG_NAME, "td")[0].text for row in rows if row.is_displayed()]

    def head(title: str) -> WebElement:
        heads = browser.find_elements(By.CSS_SELECTOR, "thead th")
        return next(head for head in heads if head.text.split(" ▲")[0].split(" ▼")[0] == title)

    assert shown() == ["b", "a", "c"]
    assert head("gain").get_attribute("aria-sort") == "descending"
    head("accuracy").find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    assert shown() == ["b", "a", "c"]  # as numbers: 100 is the largest
    head("accuracy").find_element(By.TAG_NAME, "button").click()
    assert shown() == ["c", "a", "b"]
    head("method").find_element(By.TAG_NAME, "button").click()
    assert shown() == ["a", "b", "c"]
    Select(
        browser.find_element(By.CSS_SELECTOR, "[data-filter='data set']")
    ).select_by_visible_text("cora")
    assert shown() == ["a", "b"]
    assert browser.find_element(By.ID, "count").text == "2 of 3 rows"
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []  # type: ignore[no-untyped-call]

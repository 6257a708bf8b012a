from __future__ import annotations

import hashlib
import io
import logging
import re
import sys
import threading
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from raw_layouts import write_arxiv, write_photo
from ugcl import UGCLError, load_graph
from ugcl.data import DATASETS
from ugcl.data.download import _Redirects

PHOTO = "Amazon/Photo/raw/amazon_electronics_photo.npz"


class Site(ThreadingHTTPServer):
    """Serves what `pages` holds; a page of None promises more than it sends."""

    daemon_threads = True

    def __init__(self) -> None:
        self.pages: dict[str, bytes | None] = {}
        self.moved: dict[str, str] = {}
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), Handler)

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{name}"


class Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        name = self.path.lstrip("/")
        self.server.asked.append(name)
        if name in self.server.moved:
            self.send_response(302)
            self.send_header("Location", self.server.moved[name])
            self.end_headers()
            return
        if name not in self.server.pages:
            self.send_error(404)
            return
        content = self.server.pages[name]
        self.send_response(200)
        self.send_header("Content-Length", str(1000 if content is None else len(content)))
        self.end_headers()
        self.wfile.write(b"half" if content is None else content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server on this machine, from which all data sets come."""
    with Site() as server:
        for name, dataset in DATASETS.items():
            files = tuple(
                replace(file, url=server.address(file.url.rpartition("/")[2]))
                for file in dataset.source.files
            )
            monkeypatch.setitem(
                DATASETS, name, replace(dataset, source=replace(dataset.source, files=files))
            )
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def photo(site: Site, tmp_path: Path) -> bytes:
    """The one file of a data set, at the site."""
    content = write_photo(tmp_path / "made").read_bytes()
    site.pages[Path(PHOTO).name] = content
    return content


@pytest.fixture
def failed(tmp_path: Path) -> Callable[[str, str], None]:
    """Check what is said and left when a data set is asked for in vain."""

    def check(name: str, reason: str) -> None:
        root = tmp_path / "root"
        missing = sorted(Path(file.path).name for file in DATASETS[name].source.files)
        with pytest.raises(UGCLError) as caught:
            load_graph(name, root)
        told = str(caught.value)
        assert re.search(reason, told), told
        assert all(file in told for file in missing)
        assert str(root) in told
        assert DATASETS[name].source.page in told
        assert "set `data_root` or UGCL_DATA" in told
        assert "\n" not in told
        assert [path for path in root.rglob("*") if path.is_file()] == []

    return check


def test_a_missing_file_is_downloaded(
    site: Site,
    photo: bytes,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    root = tmp_path / "new/root"
    with caplog.at_level(logging.INFO, logger="ugcl"):
        assert load_graph("amazon-photo", root).num_nodes == 4
    assert caplog.messages == [
        f"downloading {site.address(Path(PHOTO).name)} ({len(photo) / 1e6:.1f} MB)"
    ]
    assert capsys.readouterr() == ("", "")
    assert (root / PHOTO).read_bytes() == photo
    assert [path for path in root.rglob("*") if path.is_file()] == [root / PHOTO]
    load_graph("amazon-photo", root)
    assert len(site.asked) == 1


def test_the_default_root_is_the_cache(
    photo: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UGCL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    load_graph("amazon-photo")
    assert (tmp_path / "ugcl" / PHOTO).read_bytes() == photo


@pytest.mark.usefixtures("photo")
def test_a_terminal_gets_a_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    load_graph("amazon-photo", tmp_path / "root")
    shown = capsys.readouterr().err
    assert re.search(r"amazon_electronics_photo\.npz.*([\d.]+)/\1 kB", shown)
    assert "downloading" not in shown


def archive(folder: Path, *, without: str = "") -> bytes:
    """The archive of a data set as OGB packs it, with a member that would leave its folder."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        for file in folder.rglob("*.gz"):
            if file.name != without:
                packed.write(file, f"arxiv/{file.relative_to(folder).as_posix()}")
        packed.writestr("arxiv/../../escaped", "")
        packed.writestr("arxiv/mapping/README.md", "")
    return content.getvalue()


def test_an_archive_is_asked_for_once_and_only_what_is_needed_is_taken(
    site: Site, tmp_path: Path
) -> None:
    made, root = write_arxiv(tmp_path / "made"), tmp_path / "root"
    site.pages["arxiv.zip"] = archive(made)
    assert load_graph("ogbn-arxiv", root).num_nodes == 5
    assert site.asked == ["arxiv.zip"]
    found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert found == {file.path for file in DATASETS["ogbn-arxiv"].source.files}
    assert not (tmp_path / "escaped").exists()

    kept = root / "ogbn_arxiv/raw/edge.csv.gz"
    before = kept.stat().st_mtime_ns
    (root / "ogbn_arxiv/split/time/valid.csv.gz").unlink()
    assert load_graph("ogbn-arxiv", root).num_nodes == 5
    assert kept.stat().st_mtime_ns == before, "what is there is left alone"


def test_an_archive_without_a_file_is_told(site: Site, tmp_path: Path) -> None:
    site.pages["arxiv.zip"] = archive(write_arxiv(tmp_path / "made"), without="valid.csv.gz")
    with pytest.raises(UGCLError) as caught:
        load_graph("ogbn-arxiv", tmp_path / "root")
    assert "split/time/valid.csv.gz" in str(caught.value)
    assert "is not an archive with arxiv/split/time/valid.csv.gz" in str(caught.value)


def test_an_archive_that_is_none_is_told(site: Site, failed: Callable[[str, str], None]) -> None:
    site.pages["arxiv.zip"] = b"<html>Sign in to this network</html>"
    failed("ogbn-arxiv", "is not an archive with arxiv/raw/edge.csv.gz")


@pytest.mark.usefixtures("photo")
def test_a_wrong_checksum_is_told(
    failed: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ugcl.data.download.sha256_sums", lambda: {PHOTO: "0" * 64})
    failed("amazon-photo", "the SHA-256 of http://.*photo.npz is [0-9a-f]{64}, not 0{64}")


def test_a_redirection_is_followed(site: Site, photo: bytes, tmp_path: Path) -> None:
    name = Path(PHOTO).name
    site.pages["other.npz"] = site.pages.pop(name)
    site.moved[name] = site.address("other.npz")
    assert load_graph("amazon-photo", tmp_path / "root").num_nodes == 4


@pytest.mark.parametrize("target", ["http://localhost/a", "ftp://localhost/a", "file:///a"])
@pytest.mark.parametrize("encrypted", [True, False])
def test_a_redirection_to_an_unencrypted_address_is_refused(target: str, encrypted: bool) -> None:
    request = urllib.request.Request("https://localhost/" if encrypted else "http://localhost/")
    arguments = (request, io.BytesIO(), 302, "Found", HTTPMessage(), target)
    if target.startswith("http:") and not encrypted:
        assert _Redirects().redirect_request(*arguments) is not None
        return
    with pytest.raises(ValueError, match=f"redirects to {target}, which is not allowed"):
        _Redirects().redirect_request(*arguments)


def test_a_redirection_to_another_protocol_is_told(
    site: Site, photo: bytes, failed: Callable[[str, str], None]
) -> None:
    site.moved[Path(PHOTO).name] = "ftp://localhost/a"
    failed("amazon-photo", "redirects to ftp://localhost/a, which is not allowed")


def test_a_large_download_is_refused(
    site: Site,
    photo: bytes,
    failed: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr("ugcl.data.download.MAX_BYTES", len(photo) - 1)
    failed("amazon-photo", f"photo.npz has more than {len(photo) - 1:,} bytes")
    site.pages["arxiv.zip"] = archive(write_arxiv(tmp_path / "made"))
    monkeypatch.setattr("ugcl.data.download.MAX_BYTES", len(site.pages["arxiv.zip"]) + 1)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("arxiv/raw/edge.csv.gz", bytes(2**20))
    site.pages["arxiv.zip"] = content.getvalue()
    with pytest.raises(UGCLError, match=r"arxiv\.zip has more than"):
        load_graph("ogbn-arxiv", tmp_path / "root")


def test_a_present_file_is_compared_when_it_is_first_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_photo(tmp_path)
    right = hashlib.sha256((tmp_path / PHOTO).read_bytes()).hexdigest()
    monkeypatch.setattr("ugcl.data.load.sha256_sums", lambda: {PHOTO: "0" * 64})
    with pytest.raises(UGCLError, match=f"photo.npz is {right}, not 0{{64}}.*: delete them"):
        load_graph("amazon-photo", tmp_path)
    monkeypatch.setattr("ugcl.data.load.sha256_sums", lambda: {PHOTO: right})
    assert load_graph("amazon-photo", tmp_path).num_nodes == 4


@pytest.mark.usefixtures("site")
def test_an_address_that_is_gone_is_told(failed: Callable[[str, str], None]) -> None:
    failed("amazon-photo", "photo.npz answers 404 Not Found")
    failed("cora", "ind.cora.x answers 404 Not Found")


def test_a_download_that_breaks_off_is_told(site: Site, failed: Callable[[str, str], None]) -> None:
    site.pages[Path(PHOTO).name] = None
    failed("amazon-photo", "photo.npz ended after 4 of 1,000 bytes")


@pytest.mark.parametrize("name", DATASETS)
def test_without_a_network_the_error_says_what_to_get_where(
    name: str, tmp_path: Path, failed: Callable[[str, str], None]
) -> None:
    failed(name, "https://.* cannot be reached: .*no network in tests")
    assert list(tmp_path.iterdir()) == [], "not even a folder"


@pytest.mark.usefixtures("photo")
def test_a_folder_that_cannot_be_written_is_told(
    site: Site, tmp_path: Path, failed: Callable[[str, str], None]
) -> None:
    (tmp_path / "root").touch()
    failed("amazon-photo", f"cannot write in {tmp_path / 'root'}")
    assert site.asked == []


@pytest.mark.usefixtures("photo")
def test_a_full_disk_is_told(
    failed: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ugcl.data.download.shutil.copyfileobj", full)
    failed("amazon-photo", "cannot write in .*: No space left on device")


@pytest.mark.usefixtures("photo")
def test_an_interrupted_download_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ugcl.data.download.shutil.copyfileobj", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load_graph("amazon-photo", tmp_path / "root")
    assert [path for path in (tmp_path / "root").rglob("*") if path.is_file()] == []

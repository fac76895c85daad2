"""The local pages in a real browser: no console error, no request elsewhere, nothing scrolls sideways.

Once as the server hands them out, with its headers (a policy that forbids the page's own style would show in the
console), and once in a frame of the wanted width, as in `test_reports_browser`.
"""

from __future__ import annotations

import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from reports.serving import RecordServer, record_server
from tests.reports.test_reports_browser import CHROMIUM, FLAGS, measured
from tests.support import record_samples as samples

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH")]
PAGES = {
    "index": "?sort=risk&order=down",
    "compare": "compare?left=1:run.json&right=2:run.json",
    "hostile": "compare?left=1:hostile.json&right=3:run.json",
    "report": "report?file=run.json",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordServer]:
    folder = tmp_path_factory.mktemp("records")
    (folder / "run.json").write_text(samples.sample_run().to_json(), encoding="utf-8")
    (folder / "hostile.json").write_text(samples.hostile_run().to_json(), encoding="utf-8")
    (folder / ("long-name-" * 20 + ".json")).write_text("{oops", encoding="utf-8")
    with record_server(folder, port=0) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.mark.parametrize("name", PAGES)
def test_page_as_served(server: RecordServer, name: str, tmp_path: Path) -> None:
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [str(CHROMIUM), *FLAGS, profile, "--dump-dom", "--virtual-time-budget=2000", server.url + PAGES[name]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "<h1>" in done.stdout
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", ["index", "compare", "hostile"])
def test_page_in_a_narrow_and_a_wide_window(server: RecordServer, name: str, width: int, tmp_path: Path) -> None:
    with urllib.request.urlopen(server.url + PAGES[name]) as answer:
        page = answer.read().decode("utf-8")
    found, console = measured(page, width, tmp_path)
    assert console == []
    assert found["scroll"] <= found["width"] <= width
    assert found["requests"] == 0
    assert found["heading"]

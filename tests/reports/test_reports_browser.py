"""The HTML report in a real browser: nothing scrolls sideways, nothing is clipped, no console error, no request.

The report stands in a frame of the wanted width (headless Chromium has no narrower window than some 500 pixels). The
frame's page forbids scripts, so the page around it measures, and leaves what it found in its own text.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reports import render_html
from tests.support import record_samples as samples
from tests.support.lengths import at_length

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--v=0", "--window-size=1400,1000",
)  # fmt: skip
AROUND = """<!DOCTYPE html><html><body><iframe id="f" style="border:0;width:%dpx;height:900px" srcdoc="%s"></iframe>
<pre id="out"></pre><script>
document.getElementById("f").addEventListener("load", () => {
  const frame = document.getElementById("f"), page = frame.contentDocument, root = page.documentElement;
  page.querySelectorAll("details").forEach(d => { d.open = true; });
  const clipped = [], met = [];
  page.querySelectorAll("svg").forEach(svg => {
    const edge = svg.getBoundingClientRect();
    if (!edge.width) return;
    const names = [];
    svg.querySelectorAll("text").forEach(t => {
      const b = t.getBoundingClientRect();
      if (b.left < edge.left - 1 || b.right > edge.right + 1 || b.top < edge.top - 1 || b.bottom > edge.bottom + 1)
        clipped.push(t.textContent);
      for (const [other, o] of names)
        if (b.left + 1 < o.right && o.left + 1 < b.right && b.top + 3 < o.bottom && o.top + 3 < b.bottom)
          met.push(t.textContent + " / " + other);
      names.push([t.textContent, b]);
    });
  });
  document.getElementById("out").textContent = "FOUND" + JSON.stringify({
    width: root.clientWidth, scroll: Math.max(root.scrollWidth, page.body.scrollWidth), clipped: clipped, met: met,
    shown: page.querySelectorAll("svg").length, heading: page.querySelector("h1").textContent,
    requests: frame.contentWindow.performance.getEntriesByType("resource").length,
  }) + "END";
});
</script></body></html>"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH"),
]


def measured(page: str, width: int, folder: Path) -> tuple[dict[str, Any], list[str]]:
    around = folder / "around.html"
    around.write_text(AROUND % (width, html.escape(page, quote=True)), encoding="utf-8")
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [str(CHROMIUM), *FLAGS, profile, "--dump-dom", "--virtual-time-budget=3000", around.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r"FOUND(\{.*?\})END</pre>", done.stdout, re.DOTALL)
    assert found is not None, done.stderr[-2000:]
    return json.loads(html.unescape(found[1])), [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "width"),
    at_length(
        [("sample_run", 1280), ("sample_run", 400), ("many_run", 400), ("hostile_run", 400), ("bare_run", 1280)],
        [("single_run", 1280), ("single_run", 400), ("many_run", 1280), ("hostile_run", 1280), ("bare_run", 400)],
    ),
)
def test_page_in_a_browser(name: str, width: int, tmp_path: Path) -> None:
    found, console = measured(render_html(getattr(samples, name)()), width, tmp_path)
    assert console == []
    assert found["scroll"] <= found["width"] <= width
    assert found["requests"] == 0
    assert found["clipped"] == []
    assert found["met"] == []
    assert found["heading"]
    assert found["shown"] or name == "bare_run"

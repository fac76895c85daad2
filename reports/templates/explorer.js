(() => {
  "use strict";
  const source = document.getElementById("explorer-data"), home = document.getElementById("explorer");
  if (!source || !home || typeof Plot === "undefined") return;
  const data = JSON.parse(source.textContent);
  const place = document.getElementById("explorer-picture"), said = document.getElementById("explorer-said");
  const methods = [...new Set(data.points.map(p => p.method))];
  const shapes = ["circle", "square", "triangle", "diamond2", "star", "cross", "wye", "hexagon"];
  const colour = m => `var(--series-${methods.indexOf(m) % 8})`;
  const shape = m => shapes[(methods.indexOf(m) + Math.floor(methods.indexOf(m) / 8)) % shapes.length];
  const left_out = new Set();

  const choose = (id, options, start) => {
    const select = document.getElementById(id);
    for (const one of options) select.add(new Option(one.name, one.key, false, one.key === start));
    select.addEventListener("change", draw);
    return select;
  };
  const risk = choose("explorer-risk", data.risks, data.start.risk);
  const utility = choose("explorer-utility", data.utility, data.start.utility);

  const legend = document.getElementById("explorer-methods");
  for (const method of methods) {
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox"; box.checked = true; box.value = method;
    box.addEventListener("change", () => { box.checked ? left_out.delete(method) : left_out.add(method); draw(); });
    label.append(box, Plot.plot({
      width: 16, height: 16, margin: 0, x: { axis: null, domain: [-1, 1] }, y: { axis: null, domain: [-1, 1] },
      marks: [Plot.dot([0], { x: 0, y: 0, r: 5, fill: colour(method), symbol: shape(method) })],
    }), method);
    label.querySelector("svg").setAttribute("aria-hidden", "true");
    legend.append(label);
  }

  const short = v => (v === 0 ? "0" : Math.abs(v) >= 1000 || Math.abs(v) < 0.001 ? v.toPrecision(3) : v.toFixed(3));
  const fitting = (name, rest, width) => {
    const most = Math.floor(width / 8) - rest.length;
    return (name.length > most ? name.slice(0, Math.max(most - 1, 1)) + "…" : name) + rest;
  };
  // As in auditor/model/frontier.py: what is less apart than twelve digits is noise.
  const same = v => Number(v.toPrecision(12));
  const gain = (a, b, better) => (better === "higher" ? same(a) - same(b) : same(b) - same(a));
  const beats = (a, b, xBetter, yBetter) => {
    const across = gain(a.x, b.x, xBetter), up = gain(a.y, b.y, yBetter);
    return across >= 0 && up >= 0 && (across > 0 || up > 0);
  };

  // Numbers that would lie upon one another are left out; pointing at a release still names it.
  const apart = texts => {
    const kept = [];
    for (const text of texts) {
      const b = text.getBoundingClientRect();
      if (kept.some(o => b.left < o.right + 2 && o.left < b.right + 2 && b.top < o.bottom && o.top < b.bottom)) text.remove();
      else kept.push(b);
    }
  };

  function draw() {
    const axis = data.utility.find(u => u.key === utility.value);
    const height = data.risks.find(r => r.key === risk.value);
    const rows = data.points
      .filter(p => !left_out.has(p.method) && risk.value in p.risks && utility.value in p.utility)
      .map(p => ({ ...p, x: p.utility[utility.value], y: p.risks[risk.value].value, of: p.risks[risk.value] }));
    const best = rows.filter(a => !rows.some(b => beats(b, a, axis.better, height.better))).sort((a, b) => a.x - b.x || a.y - b.y);
    const width = Math.max(300, Math.round(place.clientWidth || 320)), few = rows.length <= 30;
    const title = d => [
      `${d.number} ${d.name}`, d.method + (d.settings ? ` (${d.settings})` : ""),
      `${height.name}: ${short(d.y)}` + (d.of.low === null ? "" : ` (${short(d.of.low)} to ${short(d.of.high)})`),
      `${axis.name}: ${short(d.x)}`, d.of.note, best.includes(d) ? "no other release beats it on both axes" : "",
    ].filter(line => line).join("\n");
    const at = { x: "x", y: "y" };
    const picture = Plot.plot({
      width, height: Math.round(Math.min(420, Math.max(340, width * 0.5))), marginLeft: 52, marginBottom: 44, marginTop: 32,
      marginRight: 24, style: { background: "transparent", fontSize: "12px", overflow: "visible" },
      ariaLabel: `${height.name} against ${axis.name}, ${rows.length} releases`,
      x: { label: fitting(axis.name, ` (${axis.better} is better)`, width), labelArrow: "none", grid: true, nice: true, ticks: Math.max(3, Math.round(width / 110)) },
      y: { label: fitting(height.name, ` (${height.better} is better)`, width), labelArrow: "none", grid: true, nice: true, ticks: 6, insetTop: 14 },
      marks: [
        Plot.ruleX(rows.filter(d => d.of.low !== null), { x: "x", y1: d => d.of.low, y2: d => d.of.high, stroke: "currentColor", strokeOpacity: 0.25 }),
        Plot.line(best, { ...at, stroke: "var(--soft)", strokeDasharray: "4 3" }),
        Plot.dot(rows, { ...at, r: 6, fill: d => colour(d.method), symbol: d => shape(d.method), stroke: "var(--paper)", strokeWidth: 1 }),
        Plot.text(rows.filter(d => few || best.includes(d)), { ...at, text: d => String(d.number), dy: -12, fill: "currentColor" }),
        Plot.tip(rows, Plot.pointer({ ...at, title, fill: "var(--raised)", stroke: "var(--rule)", maxRadius: 30, lineWidth: 40 })),
      ],
      symbol: { type: "identity" }, color: { type: "identity" },
    });
    picture.setAttribute("role", "img");
    picture.querySelectorAll("g[aria-label]").forEach(g => g.setAttribute("role", "group"));  // only a role may have a label
    picture.addEventListener("click", () => {
      const inside = picture.value && document.getElementById(`release-${picture.value.place}`);
      if (!inside) return;
      inside.closest("details").open = true;
      inside.scrollIntoView();
    });
    place.replaceChildren(picture);
    apart(picture.querySelectorAll("g[aria-label=text] text"));
    const names = best.map(d => d.name).join(", ");
    said.textContent = rows.length
      ? `${rows.length} of ${data.points.length} releases. Beaten by none on both axes: ${names}.`
      : "No release has both figures.";
  }

  home.hidden = false;
  document.getElementById("explorer-choices").hidden = false;
  document.getElementById("explorer-static").classList.add("replaced");
  draw();
  let waiting = 0, seen = place.clientWidth;
  new ResizeObserver(() => {
    if (place.clientWidth === seen) return;
    seen = place.clientWidth;
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  }).observe(place);
})();

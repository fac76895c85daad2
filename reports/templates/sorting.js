(() => {
  "use strict";
  const value = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.key === undefined ? cell.textContent.trim() : cell.dataset.key === "" ? NaN : Number(cell.dataset.key);
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0], heads = [...table.querySelectorAll("thead tr:last-child th")];
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        heads.forEach(other => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].map(row => [value(row, at), row]);
        const empty = ([v]) => typeof v === "number" && isNaN(v);
        const full = rows.filter(one => !empty(one)).sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
        body.append(...full.map(one => one[1]), ...rows.filter(empty).map(one => one[1]));  // what has no figure comes last
      });
    });
  }
})();

(() => {
  "use strict";
  const root = document.documentElement, button = document.getElementById("theme");
  if (!button) return;
  const next = { auto: "dark", dark: "light", light: "auto" };
  const show = () => { button.textContent = "Colours: " + (root.dataset.theme || "auto"); };
  button.hidden = false;
  button.addEventListener("click", () => {
    const chosen = next[root.dataset.theme || "auto"];
    if (chosen === "auto") delete root.dataset.theme; else root.dataset.theme = chosen;
    show();
  });
  show();
})();

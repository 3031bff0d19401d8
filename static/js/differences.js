// n and N: go to the next and the previous difference of a side-by-side page.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, [contenteditable]")) return;
  if (event.key !== "n" && event.key !== "N") return;
  if (document.documentElement.dataset.keys === "off") return;
  const rows = [...document.querySelectorAll("[data-difference]")];
  if (!rows.length) return;
  const at = rows.indexOf(document.activeElement);
  const next = event.key === "n" ? (at + 1) % rows.length : (at <= 0 ? rows.length : at) - 1;
  rows[next].focus();
  event.preventDefault();
});

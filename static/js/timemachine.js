// Time Machine's own script. It only quickens what links and forms do without it: single keys press the links that carry
// them, the list keeps its place while parts of it are swapped, and one live region says where one is.

const MOST_ROWS = 320;
const one = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

// --- single keys: every control says its own key in data-key

const typing = (element) =>
  element.isContentEditable || /^(input|textarea|select)$/i.test(element.tagName);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.documentElement.dataset.keys === "off" || typing(event.target)) return;
  if (event.target.closest("[popover], dialog")) return;
  const control = all("[data-key]").find((each) => each.dataset.key === event.key);
  if (!control) return;
  event.preventDefault();
  if (typing(control)) {
    control.focus();
    control.select();
  } else {
    window.htmx?.process(control); // a key held down may come before a swapped link has been made quick
    control.click();
  }
});

// --- an error page is a page of its own, never a part of another; where no answer comes, what is there stays

for (const name of ["htmx:response:error", "htmx:responseError"]) {
  document.addEventListener(name, ({ detail: { ctx, xhr } }) => {
    if (!/<html\b/i.test(ctx?.text ?? xhr?.responseText ?? "")) return;
    if (ctx) ctx.swap = "none";
    location.assign(ctx?.request.action ?? xhr.responseURL);
  });
}
for (const name of ["htmx:error", "htmx:sendError", "htmx:timeout"]) document.addEventListener(name, trouble);
document.addEventListener("htmx:after:request", () => one("#trouble")?.remove());

function trouble() {
  if (one("#trouble")) return;
  const note = document.createElement("p");
  note.id = "trouble";
  note.className = "note bad trouble";
  note.setAttribute("role", "alert");
  note.textContent = "The server did not answer; this is what was there before. ";
  const again = document.createElement("a");
  again.href = location.href;
  again.textContent = "Reload";
  note.append(again);
  document.body.append(note);
}

// --- choosing a file is enough to import it

document.addEventListener("change", (event) => {
  if (event.target.matches(".import [type=file]") && event.target.files.length) event.target.form.requestSubmit();
});
document.addEventListener("click", (event) => {
  const file = event.target.closest(".import [type=submit]")?.form.elements.file;
  if (file && !file.files.length) {
    event.preventDefault();
    file.click();
  }
});

// --- a sentence of an answer leads where its mark does; whoever selects some of its words stays

document.addEventListener("click", (event) => {
  const sentence = event.target.closest(".sentence[data-number]");
  if (sentence && getSelection().isCollapsed) sentence.nextElementSibling?.click();
});

// --- the timeline: its list keeps its place, and follows the selected step

const HEIGHT = 32;
let place = null; // the row at the top of the list, and how far it is scrolled under the edge
let announcing = 0;
let shown; // the step in the detail pane, and how far it was read
let read = 0;
let refocus = false; // the focus was on a row that is about to be replaced

const list = () => one(".list");
const row = (sequence) => document.getElementById(`s${sequence}`);
const offset = (element) => element.getBoundingClientRect().top - list().getBoundingClientRect().top;

function keepPlace() {
  const top = all(".row", list()).find((each) => offset(each) > -HEIGHT);
  place = top ? { id: top.id, offset: offset(top) } : null;
}

function restorePlace() {
  const kept = place && document.getElementById(place.id);
  if (!kept) return false;
  const moved = offset(kept) - place.offset;
  if (Math.abs(moved) >= 1) list().scrollTop += moved;
  return true;
}

function intoView(element, where) {
  const box = list();
  const above = offset(element) - HEIGHT;
  const below = offset(element) + 2 * HEIGHT - box.clientHeight;
  if (where === "middle" && (above < 0 || below > 0)) box.scrollTop += offset(element) - box.clientHeight / 2;
  else if (above < 0) box.scrollTop += above;
  else if (below > 0) box.scrollTop += below;
}

function select(step) {
  const sequence = step.dataset.sequence;
  const chosen = row(sequence);
  const focused = document.activeElement?.closest?.(".row");
  for (const link of all(".row > [aria-current]")) link.removeAttribute("aria-current");
  if (!chosen) {
    refocus = Boolean(focused);
    loadAround(sequence);
    return;
  }
  const link = one("a", chosen);
  link.setAttribute("aria-current", "step");
  intoView(chosen, "near");
  if (focused) link.focus({ preventScroll: true });
}

function loadAround(sequence) {
  const address = new URL(location.href);
  address.searchParams.set("step", sequence);
  place = null;
  window.htmx?.ajax("GET", address.pathname + address.search, { source: "#steps", target: "#steps", swap: "outerHTML" });
}

function announce(step) {
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    const live = document.getElementById("live");
    if (live) live.textContent = step.dataset.announce;
  }, 500);
}

// A window of rows is enough in the page: what is far away goes, and its sentinel brings it back.
function trim(added) {
  const rows = all(".row", list());
  if (rows.length <= MOST_ROWS) return;
  const below = added.compareDocumentPosition(rows[0]) & Node.DOCUMENT_POSITION_PRECEDING;
  const far = below ? rows.slice(0, rows.length - MOST_ROWS) : rows.slice(MOST_ROWS);
  const edge = below ? rows[rows.length - MOST_ROWS] : rows[MOST_ROWS - 1];
  document.getElementById(below ? "earlier" : "later")?.remove();
  far.forEach((each) => each.remove());
  const address = new URL(location.href);
  for (const name of ["step", "tab", "near", "more"]) address.searchParams.delete(name);
  address.searchParams.set(below ? "before" : "after", edge.id.slice(1));
  const sentinel = document.createElement("li");
  sentinel.id = below ? "earlier" : "later";
  sentinel.className = "sentinel";
  const link = document.createElement("a");
  link.href = `?step=${edge.id.slice(1)}`;
  link.textContent = below ? "Earlier steps" : "Later steps";
  link.setAttribute("hx-get", address.pathname + address.search);
  link.setAttribute("hx-trigger", "intersect once, click");
  link.setAttribute("hx-target", `#${sentinel.id}`);
  link.setAttribute("hx-swap", "outerHTML");
  sentinel.append(link);
  below ? edge.before(sentinel) : edge.after(sentinel);
  window.htmx?.process(sentinel);
}

function begin() {
  if (!list()) return;
  const step = document.getElementById("step");
  const chosen = step && row(step.dataset.sequence);
  if (!restorePlace() && chosen) intoView(chosen, "middle");
  if (step?.dataset.sequence === shown) one(".detail").scrollTop = read;
  shown = step?.dataset.sequence;
  one(".detail").addEventListener("scroll", () => (read = one(".detail").scrollTop), { passive: true });
  keepPlace();
  list().addEventListener("scroll", keepPlace, { passive: true });
}

new MutationObserver((changes) => {
  if (!list()) return;
  const added = changes.flatMap((change) => [...change.addedNodes]).filter((node) => node.nodeType === 1);
  const whole = added.find((node) => node.contains(list()));
  if (whole) {
    begin();
    return;
  }
  const rows = added.filter((node) => node.matches(".row, #steps"));
  if (rows.length && !restorePlace()) {
    const chosen = row(document.getElementById("step")?.dataset.sequence);
    if (chosen) intoView(chosen, "middle");
  }
  if (rows.length) trim(rows[0]);
  if (rows.length && refocus) {
    refocus = false;
    one(".row > [aria-current]")?.focus({ preventScroll: true });
  }
  const step = added.find((node) => node.id === "step");
  if (step) {
    if (step.dataset.sequence !== shown) one(".detail").scrollTop = 0;
    select(step);
    announce(step);
    shown = step.dataset.sequence;
  }
  if (rows.length || step) keepPlace();
}).observe(document.documentElement, { childList: true, subtree: true });

begin();

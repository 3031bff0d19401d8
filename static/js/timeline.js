// The timeline: its list is as long as the session but has only the rows around the visible part. It keeps its position
// while parts of it are swapped, and follows the selected step. js/strip.js draws on the picture above it.
{
  const HEIGHT = 32;
  const MOST_ROWS = 240;
  const list = () => one(".list");
  const row = (sequence) => document.getElementById(`s${sequence}`);
  const offset = (element) => element.getBoundingClientRect().top - list().getBoundingClientRect().top;
  const rows = () => all(".row", list());
  const counted = () => "total" in one("#steps").dataset; // a compact list is as long as what was loaded of it
  let seen = []; // the rows in view, when they were last measured
  let place = null; // the first of them, how far it is past the edge of the list, and how far that list was scrolled
  let jumping = null; // how far the list is scrolled while the rows there are loading
  let following = 0; // how often the rows around the selected step may still be requested while they are loading
  let settling = 0;
  let announcing = 0;
  let shown; // the step in the detail pane, and its scroll position
  let read = 0;
  let refocus = false; // the focus was on a row that is about to be replaced

  // --- the list

  // The spacer is a separate element: htmx would copy the style of one with an id, which the page's policy refuses.
  function stretch() {
    for (const each of all(".sentinel[data-rows]", list())) {
      const room = one(".room", each) ?? document.createElement("div");
      room.className = "room";
      room.style.height = `${(each.dataset.rows - 1) * HEIGHT}px`;
      if (!room.parentNode) each.id === "earlier" ? each.prepend(room) : each.append(room);
    }
  }

  // The visible rows: all have the same height, so one of them is measured.
  function inView() {
    const present = rows();
    if (!present.length) return [];
    const above = offset(present[0]);
    const first = Math.max(0, Math.floor(-above / HEIGHT));
    const end = Math.ceil((list().clientHeight - above) / HEIGHT);
    return present.slice(first, Math.max(first, end));
  }

  function keepPlace() {
    seen = inView();
    place = seen.length ? { id: seen[0].id, offset: offset(seen[0]), list: list(), scrolled: list().scrollTop } : null;
  }

  function restorePlace() {
    const kept = place && document.getElementById(place.id);
    if (!kept) return false;
    // The list may have been scrolled since, before the event is fired. That is not undone.
    const since = place.list === list() ? list().scrollTop - place.scrolled : 0;
    const moved = offset(kept) - place.offset + since;
    if (Math.abs(moved) >= 1) list().scrollTop += moved;
    return true;
  }

  function scrolled() {
    keepPlace();
    frameRows(seen);
    clearTimeout(settling);
    if (!place) settling = setTimeout(jump, 60);
  }

  // Dragging the scrollbar far away shows no rows: the rows there are fetched.
  function jump() {
    const box = list();
    const [first] = rows();
    if (!first || place || !counted()) return;
    const middle = box.scrollTop + box.clientHeight / 2;
    const total = Number(one("#steps").dataset.total);
    const wanted = offset(first) > 0 ? middle / HEIGHT : total - (box.scrollHeight - middle) / HEIGHT;
    jumping = box.scrollTop;
    fetchRows(stepAddress({ row: Math.max(0, Math.floor(wanted)) }));
  }

  function fetchRows(address) {
    window.htmx?.ajax("GET", address, { source: "#steps", target: "#steps", swap: "outerHTML" });
  }

  function intoView(element, where) {
    const box = list();
    const above = offset(element) - HEIGHT;
    const below = offset(element) + 2 * HEIGHT - box.clientHeight;
    if (where === "middle" && (above < 0 || below > 0)) box.scrollTop += offset(element) - box.clientHeight / 2;
    else if (above < 0) box.scrollTop += above;
    else if (below > 0) box.scrollTop += below;
  }

  function select(sequence) {
    const chosen = row(sequence);
    const focused = document.activeElement?.closest?.(".row");
    const elsewhere = jumping !== null; // the rows of another place are loading and will replace these
    clearTimeout(settling);
    if (!chosen || elsewhere) {
      for (const link of all(".row > [aria-current]")) link.removeAttribute("aria-current");
      refocus = Boolean(focused);
      following = 2;
      jumping = place = null;
      fetchRows(stepAddress({ step: sequence }));
      return;
    }
    highlight(chosen);
    if (focused) one("a", chosen).focus({ preventScroll: true });
  }

  // Measured before anything is written, and only for another row: every measure after a change lays the page out again.
  function highlight(chosen) {
    const link = one("a", chosen);
    if (link.hasAttribute("aria-current")) return;
    intoView(chosen, "near");
    for (const other of all(".row > [aria-current]")) other.removeAttribute("aria-current");
    link.setAttribute("aria-current", "step");
  }

  function announce(step) {
    clearTimeout(announcing);
    announcing = setTimeout(() => {
      const live = document.getElementById("live");
      if (live && step.dataset.announce) live.textContent = step.dataset.announce;
    }, 500);
  }

  // the position in a copied link comes last
  document.addEventListener("click", (event) => event.target.closest?.("[data-copy-address]") && clearTimeout(announcing));

  // A window of rows is enough on the page: distant rows are removed, their space stays, and a sentinel loads them again.
  function trim(added) {
    const present = rows();
    const far = present.length - MOST_ROWS;
    if (far <= 0) return;
    const below = added.compareDocumentPosition(present[0]) & Node.DOCUMENT_POSITION_PRECEDING;
    const going = below ? present.slice(0, far) : present.slice(MOST_ROWS);
    const edge = below ? present[far] : present[MOST_ROWS - 1];
    const id = below ? "earlier" : "later";
    const beyond = Number(document.getElementById(id)?.dataset.rows ?? 0);
    document.getElementById(id)?.remove();
    going.forEach((each) => each.remove());
    const sentinel = document.createElement("li");
    sentinel.id = id;
    sentinel.className = "sentinel";
    if (counted()) sentinel.dataset.rows = beyond + going.length;
    const link = document.createElement("a");
    const sequence = edge.id.slice(1);
    link.href = stepAddress({ step: sequence });
    link.textContent = below ? "Earlier steps" : "Later steps";
    link.setAttribute("hx-get", stepAddress({ step: null, tab: null, near: null, more: null, [below ? "before" : "after"]: sequence }));
    link.setAttribute("hx-trigger", "intersect once, click");
    link.setAttribute("hx-target", `#${id}`);
    link.setAttribute("hx-swap", "outerHTML");
    sentinel.append(link);
    below ? edge.before(sentinel) : edge.after(sentinel);
    window.htmx?.process(sentinel);
    if (!counted()) restorePlace();
  }

  // --- stepping: the position is counted here, so no key is lost while a step is loading. One request is under way at a
  // time; then the step that the keys have reached is fetched, without those in between.

  const QUIET = 100; // ms: a slow step is fetched when no key was pressed for so long
  const BESIDE = { j: 1, k: -1 };
  const STEP_LINKS = ":is(.navigator, .same-kind) a";
  const isQuick = (since) => performance.now() - since < QUIET;
  const loaded = () => Number(document.getElementById("navigator").dataset.at);
  const requestedStep = (ctx) => Number(new URL(ctx.request.action, location.href).searchParams.get("step"));
  const current = () => targetStep ?? document.getElementById("step")?.dataset.sequence;
  let targetStep = null; // the step that the keys have reached, until it is shown
  let pendingKeys = []; // keys whose steps only the server knows
  let request = null; // the one under way
  let began = 0;
  let pressed = 0;
  let resuming = 0;
  let passing = false;

  // Null if only the server knows it; the same step at either end.
  function beside(from, key) {
    const { first, last } = document.getElementById("navigator").dataset;
    if (first) {
      const to = from + BESIDE[key];
      const end = Math.min(last || Infinity, document.getElementById("goto").max);
      return to < Number(first) || to > end ? from : to;
    }
    const chosen = counted() && row(from);
    if (!chosen) return null;
    const next = key === "j" ? chosen.nextElementSibling : chosen.previousElementSibling;
    if (!next) return from;
    return next.matches(".row") ? Number(next.id.slice(1)) : null;
  }

  function moveTo(sequence) {
    targetStep = sequence;
    if (row(sequence)) highlight(row(sequence));
    document.getElementById("goto").value = sequence;
    pointTo(sequence);
  }

  document.addEventListener(
    "click",
    (event) => {
      const link = event.target.closest?.(`${STEP_LINKS}[data-key]`);
      if (!link || passing || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const { key } = link.dataset;
      const countable = key in BESIDE && !pendingKeys.length && document.getElementById("step");
      const from = targetStep ?? ((request && requestedStep(request)) || loaded());
      const to = countable ? beside(from, key) : null;
      pressed = performance.now();
      if (to === null && !request && targetStep === null) return; // the link knows
      event.preventDefault();
      event.stopImmediatePropagation();
      to === null ? pendingKeys.push(key) : moveTo(to);
      if (request) return;
      if (resuming) resume();
      else proceed();
    },
    true,
  );

  function resume() {
    clearTimeout(resuming);
    resuming = setTimeout(proceed, QUIET);
  }

  function proceed() {
    clearTimeout(resuming);
    resuming = 0;
    if (targetStep === loaded()) targetStep = null;
    const key = targetStep === null ? pendingKeys.shift() : targetStep > loaded() ? "j" : "k";
    if (!key) return;
    const link = one(`${STEP_LINKS}[data-key="${key}"][hx-get]`);
    if (!link) {
      targetStep = null;
      proceed();
      return;
    }
    if (targetStep !== null) {
      const address = new URL(link.href);
      address.searchParams.set("step", targetStep);
      link.setAttribute("hx-get", address.search);
      link.href = `${address.search}#s${targetStep}`;
    }
    passing = true;
    window.htmx?.process(link);
    link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })); // click() does nothing during a click
    passing = false;
  }

  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    if (!["step", "timeline"].includes(ctx.target?.id)) return;
    if (!ctx.sourceElement?.matches?.(STEP_LINKS)) {
      targetStep = null;
      pendingKeys = [];
    }
    request = ctx;
    began = performance.now();
  });
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    if (ctx !== request) return;
    request = null;
    if (requestedStep(ctx) !== loaded()) {
      const lost = targetStep !== null;
      targetStep = null;
      pendingKeys = [];
      if (lost) select(loaded());
      if (lost) pointTo(loaded());
    } else if (isQuick(began) || (!pendingKeys.length && targetStep === loaded())) proceed();
    else if (targetStep !== null || pendingKeys.length) resume();
  });

  // The picture plays, and says which step it has reached.
  document.addEventListener("reach", ({ detail }) => {
    pressed = performance.now();
    moveTo(detail);
    if (!request && !resuming) proceed();
  });

  // Links that show the same step in another way were written for the step that was selected then. Those that choose
  // other steps name none.
  document.addEventListener(
    "click",
    (event) => {
      const link = event.target.closest?.('#timeline :is(a[hx-target="#timeline"], :is(.totals, .chips) a[href*="step="])');
      if (!link || !current()) return;
      const address = new URL(link.href);
      address.searchParams.set("step", current());
      link.href = address.search;
      if (!link.hasAttribute("hx-get")) return;
      link.setAttribute("hx-get", address.search);
      window.htmx?.process(link);
    },
    true,
  );

  // --- responses from the server

  function begin() {
    for (const each of all("[data-script]")) each.hidden = false;
    if (!list()) {
      pointTo(Number(document.getElementById("goto")?.value));
      return;
    }
    stretch();
    const step = document.getElementById("step");
    const chosen = step && row(step.dataset.sequence);
    if (!restorePlace() && chosen) intoView(chosen, "middle");
    list().classList.add("placed");
    if (step?.dataset.sequence === shown) one(".detail").scrollTop = read;
    shown = step?.dataset.sequence;
    one(".detail").addEventListener("scroll", () => (read = one(".detail").scrollTop), { passive: true });
    keepPlace();
    list().addEventListener("scroll", scrolled, { passive: true });
    if (step) pointTo(Number(step.dataset.sequence));
    frameRows(seen);
  }

  function arrived(added) {
    stretch();
    const selected = current();
    const present = row(selected);
    if (present) one("a", present).setAttribute("aria-current", "step"); // rows that were removed come back without it
    const chosen = following && present;
    if (chosen) {
      intoView(chosen, "middle");
      following = 0;
    } else if (following && added.id === "steps" && --following) fetchRows(stepAddress({ step: selected }));
    else if (jumping !== null) {
      list().scrollTop = jumping;
      if (added.id === "steps") jumping = null;
    } else restorePlace();
    trim(added);
    stretch();
    if (refocus) {
      refocus = false;
      one(".row > [aria-current]")?.focus({ preventScroll: true });
    }
  }

  new MutationObserver((changes) => {
    const added = changes.flatMap((change) => [...change.addedNodes]).filter((node) => node.nodeType === 1);
    if (!list()) {
      if (added.some((node) => node.id === "timeline")) begin();
      return;
    }
    const whole = added.find((node) => node.contains(list()));
    if (whole) {
      begin();
      return;
    }
    const fresh = added.find((node) => node.matches(".row, #steps"));
    if (fresh) arrived(fresh);
    const step = added.find((node) => node.id === "step");
    if (step) select(current());
    if (fresh) keepPlace();
    if (step) {
      document.getElementById("no-step")?.remove(); // the message about the previous URL
      if (read && step.dataset.sequence !== shown) one(".detail").scrollTop = 0;
      if (targetStep === null || targetStep === Number(step.dataset.sequence)) announce(step);
      shown = step.dataset.sequence;
      pointTo(Number(current()));
    }
    if (fresh) frameRows(seen);
  }).observe(document.documentElement, { childList: true, subtree: true });

  // live.js made the list longer
  document.addEventListener("grown", () => {
    stretch();
    pointTo(Number(shown));
    scrolled();
  });

  // Someone who filters with the keyboard goes on from the selected step of the next page, or from the filter when nothing matches.
  function filtered(event) {
    const filters = event.target.closest?.(".chips a, .totals a, .nomatch a, .timeline-filter form");
    if (filters && !event.detail && !event.defaultPrevented) sessionStorage.setItem("filtered", "");
  }
  for (const name of ["click", "submit"]) document.addEventListener(name, filtered);

  begin();
  if (sessionStorage.getItem("filtered") !== null) {
    sessionStorage.removeItem("filtered");
    (one(".row > [aria-current]") ?? document.getElementById("filter"))?.focus({ preventScroll: true });
  }
}

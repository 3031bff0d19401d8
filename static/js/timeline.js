// The timeline: its list is as long as the session but has only the rows around the visible part. It keeps its position
// while parts of it are swapped, and follows the selected step. The minimap and its scrubber lead to any step.
{
  const HEIGHT = 32;
  const MOST_ROWS = 240;
  const list = () => one(".list");
  const row = (sequence) => document.getElementById(`s${sequence}`);
  const offset = (element) => element.getBoundingClientRect().top - list().getBoundingClientRect().top;
  const rows = () => all(".row", list());
  const counted = () => "total" in one("#steps").dataset; // a compact list is as long as what was loaded of it
  const target = () => (document.getElementById("step") ? "#step" : "#timeline");
  const here = (changes) => {
    const address = new URL(location.href);
    address.hash = "";
    for (const name of ["before", "after"]) address.searchParams.delete(name); // a page that was opened
    for (const [name, value] of Object.entries(changes))
      value === null ? address.searchParams.delete(name) : address.searchParams.set(name, value);
    return address.pathname + address.search;
  };

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
    frame();
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
    fetchRows(here({ row: Math.max(0, Math.floor(wanted)) }));
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
      fetchRows(here({ step: sequence }));
      return;
    }
    highlight(chosen);
    if (focused) one("a", chosen).focus({ preventScroll: true });
  }

  function highlight(chosen) {
    for (const link of all(".row > [aria-current]")) link.removeAttribute("aria-current");
    one("a", chosen).setAttribute("aria-current", "step");
    intoView(chosen, "near");
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
    link.href = here({ step: sequence });
    link.textContent = below ? "Earlier steps" : "Later steps";
    link.setAttribute("hx-get", here({ step: null, tab: null, near: null, more: null, [below ? "before" : "after"]: sequence }));
    link.setAttribute("hx-trigger", "intersect once, click");
    link.setAttribute("hx-target", `#${id}`);
    link.setAttribute("hx-swap", "outerHTML");
    sentinel.append(link);
    below ? edge.before(sentinel) : edge.after(sentinel);
    window.htmx?.process(sentinel);
    if (!counted()) restorePlace();
  }

  // --- the minimap: where the selected step and the visible rows are, and how to get to any other

  const map = () => document.getElementById("minimap");
  const scrubber = () => document.getElementById("scrubber");
  const range = () => ({ first: Number(map().dataset.first), last: Number(map().dataset.last) });
  let framing = 0;
  let scrubbing = 0;
  let brushed = null; // the step where a drag over the minimap began

  function mark(name) {
    const found = one(`.${name}`, map());
    if (found) return found;
    const made = document.createElement("div");
    made.className = name;
    one(".lanes", map()).append(made);
    return made;
  }

  function put(name, from, to) {
    const { first, last } = range();
    const part = (sequence) => Math.min(1, Math.max(0, (sequence - first) / (last - first + 1)));
    const element = mark(name);
    element.style.left = `${part(from) * 100}%`;
    element.style.width = `${(part(to + 1) - part(from)) * 100}%`;
    element.hidden = to < first || from > last;
  }

  function frame() {
    if (!map()) return;
    cancelAnimationFrame(framing);
    framing = requestAnimationFrame(() => {
      if (list() && seen.length) put("seen", Number(seen[0].id.slice(1)), Number(seen.at(-1).id.slice(1)));
    });
  }

  function point(sequence) {
    if (!map()) return;
    put("at", sequence, sequence);
    if (document.activeElement === scrubber() && scrubbing) return;
    scrubber().value = sequence;
    const last = Number(document.getElementById("goto")?.max ?? 0);
    scrubber().setAttribute("aria-valuetext", `Step ${sequence.toLocaleString("en")} of ${last.toLocaleString("en")}`);
  }

  // For a history entry without htmx's mark, Back would leave the page unchanged.
  function visit(address, push) {
    const mark = { htmx: true };
    history.replaceState(mark, "", push ? location.href : address);
    if (push) history.pushState(mark, "", address);
  }

  function go(sequence, push) {
    const address = here({ step: sequence });
    put("at", sequence, sequence);
    for (const field of [document.getElementById("goto"), scrubber()]) field.value = sequence;
    visit(address, push);
    window.htmx?.ajax("GET", address, { source: target(), target: target(), swap: "outerHTML" });
  }

  document.addEventListener("input", (event) => {
    if (event.target !== scrubber()) return;
    clearTimeout(scrubbing);
    put("at", Number(scrubber().value), Number(scrubber().value));
    scrubbing = setTimeout(() => {
      scrubbing = 0;
      go(Number(scrubber().value), false);
    }, 50);
  });

  const sequenceAt = (event) => {
    const box = one(".lanes svg", map()).getBoundingClientRect();
    const { first, last } = range();
    const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    return Math.min(last, first + Math.floor(part * (last - first + 1)));
  };

  document.addEventListener("pointerdown", (event) => {
    const drawn = event.target.closest?.("#minimap svg");
    if (!drawn || event.button !== 0) return;
    event.preventDefault();
    drawn.setPointerCapture(event.pointerId);
    brushed = { from: sequenceAt(event), x: event.clientX };
  });
  document.addEventListener("pointermove", (event) => {
    if (!brushed || Math.abs(event.clientX - brushed.x) < 4) return;
    const to = sequenceAt(event);
    put("brush", Math.min(brushed.from, to), Math.max(brushed.from, to));
  });
  document.addEventListener("pointerup", (event) => {
    if (!brushed) return;
    const { from, x } = brushed;
    const to = sequenceAt(event);
    brushed = null;
    one(".brush", map())?.remove();
    if (Math.abs(event.clientX - x) < 4) go(to, true);
    else zoom(Math.min(from, to), Math.max(from, to));
  });
  document.addEventListener("pointercancel", () => {
    brushed = null;
    if (map()) one(".brush", map())?.remove();
  });

  // Showing a range means filtering by its steps: it is in the URL, and the filter's chip leads back.
  function zoom(first, last) {
    const end = Number(document.getElementById("goto").max);
    const [from, to] = [Math.max(1, first), Math.min(end, last)];
    const whole = from === 1 && to === end;
    const filter = [map().dataset.filter, whole ? "" : `step:${from}-${to}`].filter(Boolean).join(" ");
    const at = Number(document.getElementById("step")?.dataset.sequence ?? scrubber().value);
    const address = here({ filter: filter || null, step: at < from || at > to ? from : at });
    visit(address, true);
    window.htmx?.ajax("GET", address, { source: "#timeline", target: "#timeline", swap: "outerHTML" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.target !== scrubber() || event.ctrlKey || event.metaKey || event.altKey) return;
    const { first, last } = range();
    const wide = last - first + 1;
    const at = Number(scrubber().value);
    const half = Math.max(5, Math.round(wide / 4));
    const pan = Math.max(1, Math.round(wide / 4));
    const moves = {
      w: [at - half, at + half],
      s: [at - wide, at + wide],
      a: [first - Math.min(pan, first - 1), last - Math.min(pan, first - 1)],
      d: [first + pan, last + pan],
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    zoom(...moves[event.key]);
  });

  // --- stepping: the position is counted here, so no key is lost while a step is loading. One request is under way at a
  // time; then the step that the keys have reached is fetched, without those in between.

  const QUIET = 100; // ms: a slow step is fetched when no key was pressed for so long
  const BESIDE = { j: 1, k: -1 };
  const STEP_LINKS = ":is(.navigator, .same-kind) a";
  const isQuick = (since) => performance.now() - since < QUIET;
  const loaded = () => Number(document.getElementById("navigator").dataset.at);
  const current = () => heading ?? document.getElementById("step")?.dataset.sequence;
  let heading = null; // the step that the keys have reached, until it is shown
  let owed = []; // keys whose steps only the server knows
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

  function head(sequence) {
    heading = sequence;
    document.getElementById("goto").value = sequence;
    point(sequence);
    if (row(sequence)) highlight(row(sequence));
  }

  document.addEventListener(
    "click",
    (event) => {
      const link = event.target.closest?.(`${STEP_LINKS}[data-key]`);
      if (!link || passing || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const { key } = link.dataset;
      const countable = key in BESIDE && !owed.length && document.getElementById("step");
      const to = countable ? beside(heading ?? loaded(), key) : null;
      pressed = performance.now();
      if (to === null && !request && heading === null) return; // the link knows
      event.preventDefault();
      event.stopImmediatePropagation();
      to === null ? owed.push(key) : head(to);
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
    if (heading === loaded()) heading = null;
    const key = heading === null ? owed.shift() : heading > loaded() ? "j" : "k";
    if (!key) return;
    const link = one(`${STEP_LINKS}[data-key="${key}"][hx-get]`);
    if (!link) {
      heading = null;
      proceed();
      return;
    }
    if (heading !== null) {
      const address = new URL(link.href);
      address.searchParams.set("step", heading);
      link.setAttribute("hx-get", address.search);
      link.href = `${address.search}#s${heading}`;
    }
    passing = true;
    window.htmx?.process(link);
    link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })); // click() does nothing during a click
    passing = false;
  }

  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    if (!["step", "timeline"].includes(ctx.target?.id)) return;
    if (!ctx.sourceElement?.matches?.(STEP_LINKS)) {
      heading = null;
      owed = [];
    }
    request = ctx;
    began = performance.now();
  });
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    if (ctx !== request) return;
    request = null;
    const asked = Number(new URL(ctx.request.action, location.href).searchParams.get("step"));
    if (asked !== loaded()) {
      const lost = heading !== null;
      heading = null;
      owed = [];
      if (lost) select(loaded());
      if (lost) point(loaded());
    } else if (isQuick(began) || (!owed.length && heading === loaded())) proceed();
    else if (heading !== null || owed.length) resume();
  });

  // --- play: one step after another, as if someone pressed Next

  let playing = 0;

  function stop() {
    clearInterval(playing);
    playing = 0;
    const button = document.getElementById("play");
    if (button) button.textContent = button.dataset.play;
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("#play");
    if (!button) return;
    if (playing) {
      stop();
      return;
    }
    button.textContent = button.dataset.stop;
    playing = setInterval(() => {
      const next = one('.navigator a[data-key="j"][hx-get]');
      if (next && !document.hidden) next.click();
      else if (!next) stop();
    }, 1000 / Number(document.getElementById("speed").value));
  });
  document.addEventListener("change", (event) => {
    if (event.target.id !== "speed" || !playing) return;
    stop();
    document.getElementById("play").click();
  });

  // --- responses from the server

  function begin() {
    if (!list()) {
      if (map()) point(Number(document.getElementById("goto").value));
      return;
    }
    for (const each of all("[data-script]")) each.hidden = false;
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
    if (step) point(Number(step.dataset.sequence));
    frame();
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
    } else if (following && added.id === "steps" && --following) fetchRows(here({ step: selected }));
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
    if (fresh || step) keepPlace(); // measured before anything else is written: the page is laid out once
    if (step) {
      document.getElementById("no-step")?.remove(); // the message about the previous URL
      if (step.dataset.sequence !== shown) one(".detail").scrollTop = 0;
      if (heading === null || heading === Number(step.dataset.sequence)) announce(step);
      shown = step.dataset.sequence;
      point(Number(current()));
    }
    if (fresh || step) frame();
  }).observe(document.documentElement, { childList: true, subtree: true });

  // live.js made the list longer
  document.addEventListener("grown", () => {
    stretch();
    point(Number(shown));
    scrolled();
  });

  begin();
}

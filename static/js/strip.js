// The picture of a session above its list: where the selected step and the visible rows are, what is under the pointer, how
// to get to any step or range with the pointer or keys, and playing at the recorded pace. The server draws it, and says in
// data attributes what begins in which column (timemachine/web/sessions/presenters/picture.py).

function stepAddress(changes) {
  const address = new URL(location.href);
  address.hash = "";
  for (const name of ["before", "after"]) address.searchParams.delete(name); // a page that was opened
  for (const [name, value] of Object.entries(changes))
    value === null ? address.searchParams.delete(name) : address.searchParams.set(name, value);
  return address.pathname + address.search;
}

let pointTo; // marks a step on the picture and its scrubber
let frameRows; // marks the rows in view

{
  const COLUMNS = 600;
  const FOLDED = 500; // ms that a folded gap takes when it is played
  const EVERY = 100;
  const NEAR = 8; // px from an error's mark, which is narrow
  const map = () => document.getElementById("minimap");
  const picture = () => one(".picture", map());
  const scrubber = () => document.getElementById("scrubber");
  const number = (value) => value.toLocaleString("en");
  let framing = 0;
  let scrubbing = 0;
  let brushed = null; // the step and the place where a drag over the picture began

  // --- what the columns stand for

  let read = null;
  function scale() {
    if (read?.from === picture()) return read;
    const { axis, first, last, groups, segments } = picture().dataset;
    const lists = (text) => (text ? text.split(";").map((each) => each.split(",").map(Number)) : []);
    const named = ([left, right, next, from, to, steps, errors, cost, unknown]) => ({ left, right, next, from, to, steps, errors, cost, unknown });
    read = { from: picture(), timed: axis === "time", first: Number(first), last: Number(last), groups: lists(groups).map(named), segments: lists(segments) };
    return read;
  }

  function column(sequence) {
    const { timed, first, last, groups } = scale();
    if (!timed) return (Math.min(last - first + 1, Math.max(0, sequence - first)) * COLUMNS) / (last - first + 1);
    let best = null;
    let before = null;
    for (const each of groups) {
      if (each.from <= sequence && sequence <= each.to && (!best || each.to - each.from < best.to - best.from)) best = each;
      if (each.to < sequence && (!before || each.to > before.to)) before = each;
    }
    if (!best) return before?.left ?? 0;
    return best.left + ((sequence - best.from) / (best.to - best.from + 1)) * (best.next - best.left);
  }

  function sequenceAt(place) {
    const { timed, first, last, groups } = scale();
    if (!timed) return Math.min(last, first + Math.floor((place / COLUMNS) * (last - first + 1)));
    const begun = groups.findLast((each) => each.left <= place) ?? groups[0];
    const part = Math.min(1, Math.max(0, (place - begun.left) / (begun.next - begun.left || 1)));
    return Math.min(begun.to, begun.from + Math.floor(part * (begun.to - begun.from + 1)));
  }

  function moment(place) {
    const [left, right, begins, ends] = scale().segments.findLast((each) => each[0] <= place) ?? scale().segments[0];
    const part = Math.min(1, Math.max(0, (place - left) / (right - left || 1)));
    return begins + part * (ends - begins);
  }

  const clock = (seconds) => new Date(seconds * 1_000).toISOString().slice(11, 19);

  // --- marks over the picture

  function mark(name) {
    const found = one(`.${name}`, map());
    if (found) return found;
    const made = document.createElement("div");
    made.className = name;
    one(".stage", map()).append(made);
    return made;
  }

  function put(name, left, right, hidden = false) {
    const element = mark(name);
    element.style.left = `${(left / COLUMNS) * 100}%`;
    element.style.width = `${((right - left) / COLUMNS) * 100}%`;
    element.hidden = hidden;
  }

  function putSteps(name, from, to) {
    const { first, last, timed } = scale();
    const [left, right] = [column(from), column(timed ? to : to + 1)];
    put(name, Math.min(left, right), Math.max(left, right), to < first || from > last);
  }

  const sequenceOf = (row) => Number(row.id.slice(1));

  // The last step of a row: if it is folded, the last one inside it.
  function endOf(row) {
    const next = row.nextElementSibling;
    if (!one("[aria-expanded=false]", row) || next?.matches(".sentinel")) return sequenceOf(row);
    return next ? sequenceOf(next) - 1 : scale().last;
  }

  frameRows = (rows) => {
    if (!map()) return;
    cancelAnimationFrame(framing);
    framing = requestAnimationFrame(() => {
      if (map() && rows.length) putSteps("seen", sequenceOf(rows[0]), endOf(rows.at(-1)));
    });
  };

  pointTo = (sequence) => {
    if (!map()) return;
    putSteps("at", sequence, sequence);
    if (document.activeElement === scrubber() && scrubbing) return;
    scrubber().value = sequence;
    const last = Number((document.getElementById("goto") ?? scrubber()).max);
    const when = scale().timed ? `, ${clock(moment(column(sequence)))} UTC` : "";
    scrubber().setAttribute("aria-valuetext", `Step ${number(sequence)} of ${number(last)}${when}`);
  };

  // --- what is under the pointer

  // As `money` in timemachine/core/pure/numbers.py: cents, or three significant digits below ten cents.
  function dollars(millionths) {
    if (!millionths) return "";
    const size = Math.abs(millionths) / 1_000_000;
    const digits = size < 0.1 ? { maximumSignificantDigits: 3 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
    return `${millionths < 0 ? "-" : ""}$${size.toLocaleString("en", digits)}`;
  }

  function words(place, lane) {
    const { timed, groups, segments } = scale();
    const fold = timed && segments.findIndex((each, at) => at && place < each[0] && place >= segments[at - 1][1]);
    if (fold > 0) return all(".fold", picture())[fold - 1].dataset.words;
    const here = groups.filter((each) => each.left <= place && place < Math.max(each.right, each.left + 1));
    if (timed && !here.length) {
      const before = groups.filter((each) => each.left <= place).map((each) => each.to);
      return [lane, `${clock(moment(place))} UTC`, before.length && `after step ${number(Math.max(...before))}`].filter(Boolean).join(" · ");
    }
    const found = here.length ? here : [groups.findLast((each) => each.left <= place) ?? groups[0]];
    const sum = (name) => found.reduce((total, each) => total + each[name], 0);
    const from = Math.min(...found.map((each) => each.from));
    const to = Math.max(...found.map((each) => each.to));
    const [steps, errors, cost, unknown] = ["steps", "errors", "cost", "unknown"].map(sum);
    return [
      lane,
      timed && `${clock(moment(place))} UTC`,
      from === to ? `step ${number(from)}` : `steps ${number(from)}–${number(to)}`,
      steps > 1 && `${number(steps)} steps`,
      errors > 0 && `${number(errors)} error${errors === 1 ? "" : "s"}`,
      dollars(cost),
      unknown > 0 && `${number(unknown)} of unknown cost`,
    ]
      .filter(Boolean)
      .join(" · ");
  }

  // In the lane of errors, the nearest one is meant.
  function placeOf(event) {
    const box = picture().getBoundingClientRect();
    const place = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * (COLUMNS - 0.01);
    if (event.target.dataset.lane !== "errors") return place;
    const away = ({ left }) => Math.abs(left - place);
    const near = scale().groups.filter((each) => each.errors && away(each) < (NEAR / box.width) * COLUMNS);
    return near.length ? near.sort((one, other) => away(one) - away(other))[0].left + 0.06 : place; // they are rounded
  }

  function showCard(place, lane) {
    put("hover", place, place);
    const card = mark("hover");
    card.textContent = words(place, lane);
    card.classList.toggle("left", place > COLUMNS / 2);
  }

  const quiet = () => map() && one(".hover", map())?.remove();

  // --- going to a step

  // For a history entry without htmx's mark, Back would leave the page unchanged.
  function visit(address, push) {
    const mark = { htmx: true };
    history.replaceState(mark, "", push ? location.href : address);
    if (push) history.pushState(mark, "", address);
  }

  function go(sequence, push) {
    const address = stepAddress({ step: sequence });
    const target = document.getElementById("step") ? "#step" : "#timeline";
    putSteps("at", sequence, sequence);
    for (const field of all("#goto, #scrubber")) field.value = sequence;
    visit(address, push);
    window.htmx?.ajax("GET", address, { source: target, target, swap: "outerHTML" });
  }

  document.addEventListener("input", (event) => {
    if (event.target !== scrubber()) return;
    clearTimeout(scrubbing);
    const sequence = Number(scrubber().value);
    putSteps("at", sequence, sequence);
    scrubbing = setTimeout(() => {
      scrubbing = 0;
      go(Number(scrubber().value), false);
    }, 50);
  });

  document.addEventListener("pointerdown", (event) => {
    const drawn = event.target.closest?.("#minimap .picture");
    if (!drawn || event.button !== 0) return;
    event.preventDefault();
    drawn.setPointerCapture(event.pointerId);
    brushed = { place: placeOf(event), x: event.clientX };
  });
  document.addEventListener("pointermove", (event) => {
    if (!brushed && !event.target.closest?.("#minimap .picture")) {
      quiet();
      return;
    }
    const place = placeOf(event);
    showCard(place, event.target.dataset.lane === "errors" ? "" : event.target.dataset.lane);
    if (!brushed || !canZoom() || Math.abs(event.clientX - brushed.x) < 4) return;
    put("brush", Math.min(brushed.place, place), Math.max(brushed.place, place));
  });
  document.addEventListener("pointerup", (event) => {
    if (!brushed) return;
    const { place, x } = brushed;
    const to = placeOf(event);
    brushed = null;
    one(".brush", map())?.remove();
    if (!canZoom() || Math.abs(event.clientX - x) < 4) go(sequenceAt(place), true);
    else zoomTo(Math.min(place, to), Math.max(place, to));
  });
  document.addEventListener("pointercancel", () => {
    brushed = null;
    if (map()) one(".brush", map())?.remove();
  });

  // --- showing a range: it means filtering by its steps, so it is in the URL, and the filter's chip leads back. Share links have no filter.

  const canZoom = () => "filter" in map().dataset;

  function zoomTo(left, right) {
    const { timed, groups } = scale();
    const inside = timed ? groups.filter((each) => each.left >= left - 1 && each.left <= right) : [];
    if (!inside.length) zoom(sequenceAt(left), sequenceAt(right));
    else zoom(Math.min(...inside.map((each) => each.from)), Math.max(...inside.map((each) => each.to)));
  }

  function zoom(first, last) {
    const end = Number(document.getElementById("goto").max);
    const [from, to] = [Math.max(1, first), Math.min(end, last)];
    const whole = from === 1 && to === end;
    const filter = [map().dataset.filter, whole ? "" : `step:${from}-${to}`].filter(Boolean).join(" ");
    const at = Number(document.getElementById("step")?.dataset.sequence ?? scrubber().value);
    const address = stepAddress({ filter: filter || null, step: at < from || at > to ? from : at });
    visit(address, true);
    window.htmx?.ajax("GET", address, { source: "#timeline", target: "#timeline", swap: "outerHTML" });
  }

  function changeRange(key) {
    const { first, last } = scale();
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
    if (moves[key]) zoom(...moves[key]);
    return Boolean(moves[key]);
  }

  document.addEventListener("keydown", (event) => {
    if (event.target !== scrubber() || !canZoom() || event.ctrlKey || event.metaKey || event.altKey) return;
    if (changeRange({ "+": "w", "-": "s" }[event.key] ?? event.key)) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-zoom]");
    if (button) changeRange(button.dataset.zoom === "in" ? "w" : "s");
  });

  // --- play: over steps, one after another, as if someone pressed Next; over time, at the recorded pace with gaps folded

  let playing = 0;

  // The step that was reached is not shown yet: nothing else is marked until it is, however slow the server.
  const loading = () => Number(scrubber().value) !== Number(document.getElementById("navigator").dataset.at);

  for (const name of ["htmx:response:error", "htmx:error", "htmx:timeout"]) document.addEventListener(name, stop);

  function stop() {
    clearInterval(playing);
    playing = 0;
    const button = document.getElementById("play");
    if (button) button.textContent = button.dataset.play;
  }

  const speed = () => Number(document.getElementById("speed")?.value ?? 1);

  function playSteps() {
    return setInterval(() => {
      const next = one('.navigator a[data-key="j"][hx-get]');
      if (next && !document.hidden && !loading()) next.click();
      else if (!next) stop();
    }, 1000 / speed());
  }

  function playTime() {
    let at = Number(scrubber().value);
    let place = column(at);
    let before = performance.now();
    return setInterval(() => {
      if (!map()) return stop();
      const now = performance.now();
      if (!document.hidden) place = later(place, (now - before) * speed());
      before = now;
      const reached = place >= COLUMNS ? scale().last : sequenceAt(place);
      if (reached > at && !loading()) document.dispatchEvent(new CustomEvent("reach", { detail: (at = reached) }));
      if (place >= COLUMNS && at === reached) stop();
    }, EVERY);
  }

  // The column that many milliseconds of recorded time later.
  function later(place, milliseconds) {
    const { segments } = scale();
    let left = milliseconds;
    for (const [at, [from, to, begins, ends]] of segments.entries()) {
      if (place < from) {
        const folded = (from - place) * (FOLDED / (from - segments[at - 1][1]));
        if (left < folded) return place + (left / folded) * (from - place);
        left -= folded;
        place = from;
      }
      if (place >= to) continue;
      const rest = ((to - place) / (to - from)) * (ends - begins) * 1_000;
      if (left < rest) return place + (left / rest) * (to - place);
      left -= rest;
      place = to;
    }
    return COLUMNS;
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("#play");
    if (!button) return;
    if (playing) {
      stop();
      return;
    }
    button.textContent = button.dataset.stop;
    playing = scale().timed ? playTime() : playSteps();
  });
  document.addEventListener("change", (event) => {
    if (event.target.id !== "speed" || !playing || scale().timed) return;
    stop();
    document.getElementById("play").click();
  });
}

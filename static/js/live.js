// Live updates of a session that is being recorded or replayed. At the end of the list, new steps appear in it; elsewhere a
// line shows how many there are. Nothing visible moves, and nothing with the focus is replaced.
{
  const EVERY = 2_000;
  const SAID_EVERY = 10_000;
  const END = 64;
  const tail = () => document.getElementById("tail");
  const box = () => one(".list");
  const atEnd = () => !document.getElementById("later") && box().scrollHeight - box().scrollTop - box().clientHeight < END;
  const selected = () => document.getElementById("step")?.dataset.sequence;

  let missed = 0; // new steps outside the visible part
  let unsaid = 0; // new steps that were not announced yet
  let said = 0;
  let ending = ""; // what ended, announced immediately
  let followed; // the step selected by Follow: selecting another one turns Follow off
  let waiting;
  let resting = false; // another view is shown, which is not updated

  const many = (number) => `${number.toLocaleString("en")} new step${number === 1 ? "" : "s"}`;

  async function poll() {
    clearTimeout(waiting);
    const from = tail();
    resting = !from || document.hidden;
    if (resting) return;
    caughtUp();
    const asked = new URLSearchParams(location.search);
    const rows = all(".row");
    const { since, status, revision } = from.dataset;
    const facts = { since, status, revision, step: selected(), first: rows[0]?.id.slice(1), last: rows.at(-1)?.id.slice(1) };
    for (const [name, value] of Object.entries(facts)) if (value) asked.set(name, value);
    const answer = await fetch(`${from.dataset.address}?${asked}`, { headers: { "X-Poll": "yes" } }).catch(() => null);
    if (answer?.redirected || (answer?.status > 399 && answer.status < 500)) return;
    const came = answer?.status === 200 && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("tail");
    if (came && from === tail()) news(from, came);
    announce();
    waiting = setTimeout(poll, answer?.ok ? EVERY : SAID_EVERY);
  }

  function news(from, came) {
    const { since, status, revision, newest } = came.dataset;
    const added = Number(came.dataset.new);
    const grew = since !== from.dataset.since || status !== from.dataset.status;
    const wasOpen = from.dataset.status !== "ended";
    Object.assign(from.dataset, { since, status, revision }, grew && { newest });
    if (status === "ended" && !revision) from.remove();
    ending = came.dataset.said;
    if (!box() && added) {
      window.htmx?.ajax("GET", location.href, { source: "#timeline", target: "#timeline", swap: "outerHTML" });
      return;
    }
    for (const each of all("template", came)) put(one(each.dataset.into), each);
    if (box() && grew) grow(came, added);
    if (box()) document.dispatchEvent(new Event("grown"));
    if (grew) follow(newest);
    if (wasOpen && status === "ended") ended(status);
  }

  function grow(came, added) {
    const { since, last } = came.dataset;
    document.getElementById("scrubber").max = last;
    document.getElementById("goto").max = since;
    rows(came, added);
    unsaid += added;
  }

  function put(place, fresh) {
    if (!place || place.matches(":focus-within, :active") || place.innerHTML.trim() === fresh.innerHTML.trim()) return;
    place.replaceChildren(...fresh.content.childNodes);
    window.htmx?.process(place);
  }

  function rows(came, added) {
    const stay = atEnd();
    const steps = one(".steps", box());
    document.getElementById("steps").dataset.total = Number(document.getElementById("steps").dataset.total) + added;
    for (const each of all("ol > *", came)) {
      const old = document.getElementById(each.id);
      if (old && each.id !== "later") refold(old, each);
      else if (stay) add(steps, each);
    }
    if (stay) {
      requestAnimationFrame(() => (box().scrollTop = box().scrollHeight));
      return;
    }
    missed = added + (one(".newer").hidden ? 0 : missed);
    const later = document.getElementById("later");
    if (later) later.dataset.rows = Number(later.dataset.rows) + added;
    else if (added) add(steps, one("ul > *", came));
    told();
  }

  function add(steps, each) {
    one(".nomatch")?.remove();
    steps.append(each);
    window.htmx?.process(each);
  }

  // A step recorded inside another one can make that one collapsible.
  function refold(old, each) {
    const fold = one(".inside", each);
    const had = one(".inside", old);
    if (had && fold) had.textContent = fold.textContent;
    else if (fold) {
      old.className = each.className;
      old.append(fold);
      window.htmx?.process(fold);
    }
  }

  function told() {
    const line = one(".newer");
    line.hidden = !missed;
    line.firstElementChild.textContent = many(missed);
  }

  function caughtUp() {
    if (!missed || !box() || !atEnd()) return;
    missed = 0;
    told();
  }

  function follow(newest) {
    const button = document.getElementById("follow");
    if (button?.getAttribute("aria-pressed") !== "true" || !newest || newest === selected()) return;
    if (followed && followed !== selected()) {
      button.setAttribute("aria-pressed", "false");
      return;
    }
    followed = newest;
    const address = new URL(location.href);
    address.searchParams.set("step", newest);
    address.hash = "";
    history.replaceState(history.state, "", address);
    const arrived = window.htmx?.ajax("GET", address.pathname + address.search, { source: "#step", target: "#step", swap: "outerHTML" });
    Promise.resolve(arrived).then(() => (document.getElementById("step").dataset.announce = "")); // the number of new steps is announced instead
  }

  function ended(status) {
    document.getElementById("follow")?.remove();
    for (const each of all(".while-recording")) each.classList.add("gone");
    const word = one(".marks .status");
    word.className = `status ${status}`;
    word.textContent = status;
    ending = "The session has ended";
  }

  function announce() {
    if (!ending && (!unsaid || Date.now() - said < SAID_EVERY)) return;
    said = Date.now();
    document.getElementById("live").textContent = [unsaid && many(unsaid), ending].filter(Boolean).join(". ");
    unsaid = 0;
    ending = "";
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("#follow");
    if (button) {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", on);
      followed = undefined;
      if (on && tail().dataset.newest) follow(tail().dataset.newest);
    }
    const end = event.target.closest(".newer button");
    if (end) told((missed = 0));
    if ((button || end) && box()) box().scrollTop = box().scrollHeight;
  });
  document.addEventListener("scroll", (event) => event.target === box() && caughtUp(), { capture: true, passive: true });
  document.addEventListener("visibilitychange", poll);
  document.addEventListener("htmx:after:swap", () => resting && tail() && poll());
  setTimeout(poll, EVERY);
}

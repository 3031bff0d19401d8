// Prefetches the next step while the current one is read, so that the key, the button and play show it immediately. A
// prefetched step is used once, and not after half a minute, because notes may have been added since.
{
  const READING = 150; // ms on a step before the next one is prefetched
  const FRESH = 30_000;
  const MOST = 4;
  const ahead = new Map(); // URL → the pending response, and when it was requested
  let coming = null; // the request of the step that was requested last and has not arrived: a navigation, not a prefetch
  let waiting = 0;
  let came = 0; // when the current step arrived
  let direction = "j";
  let unsaid = null; // the URL of the step while someone moves on quickly
  let saying = 0;

  function whole(address, step) {
    const found = new URL(address, location.href);
    if (step) found.searchParams.set("step", step);
    found.searchParams.sort();
    return found.href;
  }

  async function fetched(address) {
    const headers = { "HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": "article#step", Accept: "text/html" };
    const answer = await fetch(address, { headers, credentials: "same-origin" });
    return { ok: answer.ok && !answer.redirected, status: answer.status, headers: answer.headers, text: await answer.text() };
  }

  function fetchAhead() {
    const address = one(`.navigator a[data-key="${direction}"][hx-target="#step"]`)?.getAttribute("hx-get");
    if (address && !document.hidden) asking(whole(address));
  }

  // When moving quickly, stay two steps ahead: the row after the pending one names the next.
  function goOn(address) {
    const row = document.getElementById(`s${new URL(address, location.href).searchParams.get("step")}`);
    const next = direction === "j" ? row?.nextElementSibling : row?.previousElementSibling;
    if (next?.matches(".row")) asking(whole(address, next.id.slice(1)));
  }

  function asking(address) {
    if (address === coming?.address || ahead.has(address) || navigator.connection?.saveData) return;
    const answer = fetched(address);
    answer.catch(() => ahead.delete(address));
    ahead.set(address, { answer, at: performance.now() });
    for (const oldest of [...ahead.keys()].slice(0, -MOST)) ahead.delete(oldest);
  }

  function readAhead() {
    clearTimeout(waiting);
    if (coming && new URL(coming.address).searchParams.get("step") === document.getElementById("step")?.dataset.sequence) coming = null;
    came = performance.now();
    waiting = setTimeout(fetchAhead, READING);
  }

  // A response that failed or does not arrive is requested again in the usual way, which shows the error.
  function answering(found, usual) {
    return async (address, request) => {
      const given = await Promise.race([found.answer, aborted(request.signal)]).catch((why) => {
        if (request.signal?.aborted) throw why;
        return null;
      });
      if (!given?.ok) return usual(address, request);
      return { status: given.status, headers: given.headers, text: async () => given.text }; // what htmx reads from a response
    };
  }

  function aborted(signal) {
    return new Promise((_, refuse) => {
      const stop = () => refuse(new DOMException("Another step was asked for.", "AbortError"));
      signal?.aborted ? stop() : signal?.addEventListener("abort", stop, { once: true });
    });
  }

  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    const { action, method, signal } = ctx.request;
    if (method && method.toUpperCase() !== "GET") {
      ahead.clear();
      return;
    }
    if (ctx.target?.id !== "step") return;
    clearTimeout(waiting);
    const key = ctx.sourceElement?.dataset.key;
    const address = whole(action);
    const found = ahead.get(address);
    ahead.delete(address);
    coming = { address, ctx };
    if (found && !signal?.aborted && performance.now() - found.at < FRESH) ctx.fetch = answering(found, ctx.fetch);
    if (key !== "j" && key !== "k") return;
    direction = key;
    if (performance.now() - came < READING) goOn(action);
  });
  // One that failed, or that was a different step, is no longer pending.
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    if (coming?.ctx === ctx) coming = null;
  });
  document.addEventListener("htmx:after:swap", readAhead);

  // Adding a history entry takes a browser longer than showing a step, so it is added after the step is painted. Moving
  // quickly leaves one entry, for the last step.
  function say() {
    clearTimeout(saying);
    if (unsaid) history.pushState({ htmx: true }, "", unsaid);
    unsaid = null;
  }

  document.addEventListener("htmx:before:history:update", (event) => {
    const { history: entry, sourceElement } = event.detail;
    const isKey = ["j", "k"].includes(sourceElement?.dataset.key);
    const quick = isKey && performance.now() - came < READING;
    if (!quick) say();
    if (!isKey) return;
    event.preventDefault();
    unsaid = entry.path;
    clearTimeout(saying);
    if (quick) saying = setTimeout(say, READING);
    else requestAnimationFrame(() => (saying = setTimeout(say)));
  });
  for (const other of ["pointerdown", "wheel", "pagehide"]) addEventListener(other, say, { capture: true, passive: true });
  addEventListener("keydown", (event) => event.key !== direction && say(), { capture: true });
  addEventListener("popstate", () => (unsaid = null), { capture: true });
  document.addEventListener("visibilitychange", readAhead);

  readAhead();
}

// Whoever reads a step goes on to the next one: its part of the page is fetched while this one is read, so that the key, the
// button and play find it there. What was fetched ahead is used once, and not after half a minute: notes may have come since.
{
  const READING = 150; // ms on a step before the next one is fetched
  const WALKING = 20; // the same for who came by the key of the next one
  const FRESH = 30_000;
  const MOST = 4;
  const ahead = new Map(); // address → the answer on its way, and when it was asked for
  let waiting = 0;
  let direction = "j";
  let walking = false;

  const whole = (address) => new URL(address, location.href).href;
  const link = () => one(`.navigator a[data-key="${direction}"][hx-target="#step"]`);

  async function fetched(address) {
    const headers = { "HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": "article#step", Accept: "text/html" };
    const answer = await fetch(address, { headers, credentials: "same-origin" });
    return { ok: answer.ok && !answer.redirected, status: answer.status, headers: answer.headers, text: await answer.text() };
  }

  function fetchAhead() {
    const address = link()?.getAttribute("hx-get");
    if (!address || document.hidden || navigator.connection?.saveData) return;
    const asked = asking(whole(address));
    if (walking) asked.then(goOn).catch(() => {});
  }

  // Who walks is two steps behind what is fetched: the one that came says which is the next.
  function goOn(given) {
    const next = given.ok && new RegExp(`data-key="${direction}" hx-get="([^"]+)" hx-target="#step"`).exec(given.text);
    if (next) asking(whole(next[1].replaceAll("&amp;", "&"))).catch(() => {});
  }

  function asking(address) {
    const known = ahead.get(address);
    if (known) return known.answer;
    const answer = fetched(address);
    answer.catch(() => ahead.delete(address));
    ahead.set(address, { answer, at: performance.now() });
    for (const oldest of [...ahead.keys()].slice(0, -MOST)) ahead.delete(oldest);
    return answer;
  }

  function readAhead(after) {
    clearTimeout(waiting);
    waiting = setTimeout(fetchAhead, after);
  }

  // An answer that went wrong, or does not come, is asked for again in the usual way, which says what is the matter.
  function answering(found, usual) {
    return async (address, request) => {
      const given = await Promise.race([found.answer, aborted(request.signal)]).catch((why) => {
        if (request.signal?.aborted) throw why;
        return null;
      });
      if (!given?.ok) return usual(address, request);
      return new Response(given.text, { status: given.status, headers: given.headers });
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
    const key = ctx.sourceElement?.dataset.key;
    walking = key === "j" || key === "k";
    if (walking) direction = key;
    const found = ctx.target?.id === "step" && ahead.get(whole(action));
    if (!found || signal?.aborted) return;
    ahead.delete(whole(action));
    if (performance.now() - found.at < FRESH) ctx.fetch = answering(found, ctx.fetch);
  });
  document.addEventListener("htmx:after:swap", () => readAhead(walking ? WALKING : READING));
  document.addEventListener("visibilitychange", () => readAhead(READING));

  readAhead(READING);
}

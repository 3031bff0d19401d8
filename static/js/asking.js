// Asking with a script: the answer is read while it is written, and can be cancelled. Without it the same form shows the
// answer at its end. The recorded step, made by the server, takes the place of what was written.
{
  const one = (selector, from = document) => from.querySelector(selector);
  const part = (name) => one(`#writing [data-part=${name}]`);
  const announce = (text) => (document.getElementById("live").textContent = text);
  const REPLACED = [".page-head > p", ".work-step:not(#writing)", ".work-steps"];
  let before = Promise.resolve(); // a question sent while an answer is written waits for its end

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.matches("#writing form")) {
      event.preventDefault();
      cancel(form);
    } else if (form.matches(".work-form") && form.elements.do.value === "ask" && !answersAtOnce(form)) {
      event.preventDefault();
      const sent = new URLSearchParams(new FormData(form));
      before = before.then(() => ask(form, sent));
    }
  });

  const answersAtOnce = ({ elements, dataset }) =>
    (elements.other_model.value.trim() || elements.model.value || dataset.model).startsWith("local");

  async function ask(form, sent) {
    begin(sent.get("text"));
    const known = { begun: false, ended: "" };
    try {
      await follow(sent, await send(form.action, sent, "text/event-stream"), known);
    } catch {
      tell(lost(known));
    } finally {
      one("#writing form").hidden = true;
    }
  }

  function lost({ begun, ended }) {
    if (ended) return `${ended} Load the page again to see it.`;
    if (begun) return "The connection broke off. The ask goes on and is recorded; load the page again to see it.";
    return "The question could not be sent: the server did not answer. It is kept here.";
  }

  function tell(text) {
    part("says").textContent = text;
    announce(text);
  }

  const send = (address, body, accept) =>
    fetch(address, { method: "POST", body, headers: { Accept: accept }, redirect: "manual" });

  function begin(question) {
    part("question").textContent = question;
    part("says").textContent = "Looking for passages.";
    part("text").replaceChildren(document.createTextNode(""));
    one("#writing").hidden = false;
    one("#writing").scrollIntoView({ block: "nearest" });
    one(REPLACED[1]).hidden = true;
    announce("The question is asked.");
  }

  async function follow(sent, response, known) {
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      refused(await response.text(), sent, response.status);
      return;
    }
    for await (const [name, data] of events(response.body)) {
      if (name === "begun") {
        known.begun = true;
        allow(data.cancel);
      }
      else if (name === "found") part("says").textContent = `${data.says} The model is asked.`;
      else if (name === "text") write(data.text);
      else if (name === "end") {
        known.ended = data.says;
        return end(sent, data);
      }
    }
    throw new Error("the stream ended before the ask did");
  }

  function allow(address) {
    const form = one("#writing form");
    form.action = address;
    form.hidden = false;
    one("button", form).disabled = false;
  }

  function write(text) {
    const written = part("text").firstChild;
    if (!written.length) part("says").textContent = "The answer is being written.";
    written.appendData(text);
  }

  async function cancel(form) {
    one("button", form).disabled = true;
    part("says").textContent = "The ask is being cancelled.";
    try {
      await send(form.action, new URLSearchParams(new FormData(form)), "text/html");
    } catch {
      part("says").textContent = "The server did not answer, so the ask may go on; try to cancel it again.";
      one("button", form).disabled = false;
    }
  }

  async function end(sent, data) {
    if (!data.failed && stands(sent)) typed().value = "";
    if (!data.address) return tell(data.says);
    if (!swap(await (await fetch(data.address)).text(), REPLACED)) throw new Error("the step is not on the page");
    history.replaceState(history.state, "", data.address);
    one("#writing").hidden = true;
    announce(data.says);
  }

  function refused(page, sent, status) {
    const meanwhile = stands(sent) ? null : typed().value;
    if (!swap(page, [...REPLACED, ".work-form"])) {
      const why = one(".failure h1 + p, main .note", parsed(page))?.textContent.trim();
      return tell(`The question was not asked. ${why || `The server answered ${status || "with another page"}.`} It is kept here.`);
    }
    one("#writing").hidden = true;
    if (meanwhile !== null) typed().value = meanwhile;
    typed().focus();
  }

  const typed = () => one(".work-form textarea");
  const stands = (sent) => typed().value.trim() === sent.get("text").trim();

  const parsed = (page) => new DOMParser().parseFromString(page, "text/html");

  function swap(page, selectors) {
    const fresh = parsed(page);
    const found = selectors.map((selector) => [one(selector), one(selector, fresh)]);
    if (found.some(([now, next]) => !now || !next)) return false;
    for (const [now, next] of found) {
      now.replaceWith(next);
      window.htmx?.process(next);
    }
    return true;
  }

  async function* events(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
        if (data) yield [name, JSON.parse(data)];
      }
    }
  }
}

// Streams the answer of an ask, which can be cancelled. Without this script, the same form shows the answer when it is
// complete. The recorded step from the server replaces the streamed text.
{
  const one = (selector, from = document) => from.querySelector(selector);
  const part = (name) => one(`#writing [data-part=${name}]`);
  const announce = (text) => (document.getElementById("live").textContent = text);
  const REPLACED = [".marks > p", ".work-step:not(#writing)", ".work-steps"];
  let before = Promise.resolve(); // a question sent while an answer is streaming waits for its end

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
    (elements.model.value.trim() || dataset.model).startsWith("local");

  async function ask(form, sent) {
    begin(sent.get("text"));
    try {
      await follow(form, sent, await send(form.action, sent, "text/event-stream"));
    } catch {
      part("says").textContent = "The connection was lost. The ask continues and will be recorded. Reload the page to see it.";
      announce(part("says").textContent);
    } finally {
      one("#writing form").hidden = true;
    }
  }

  const send = (address, body, accept) =>
    fetch(address, { method: "POST", body, headers: { Accept: accept }, redirect: "manual" });

  function begin(question) {
    part("question").textContent = question;
    part("says").textContent = "Searching for passages…";
    part("text").replaceChildren(document.createTextNode(""));
    one("#writing").hidden = false;
    one("#writing").scrollIntoView({ block: "nearest" });
    one(REPLACED[1]).hidden = true;
    announce("Asking the question.");
  }

  async function follow(form, sent, response) {
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      refused(await response.text(), form);
      return;
    }
    for await (const [name, data] of events(response.body)) {
      if (name === "begun") allow(data.cancel);
      else if (name === "found") part("says").textContent = `${data.says} Asking the model…`;
      else if (name === "waiting") told(data.says);
      else if (name === "text") write(data.text);
      else if (name === "end") return end(form, sent, data);
    }
    throw new Error("the stream ended before the ask did");
  }

  function told(says) {
    part("says").textContent = says;
    announce(says);
  }

  function allow(address) {
    const form = one("#writing form");
    form.action = address;
    form.hidden = false;
    one("button", form).disabled = false;
  }

  function write(text) {
    const written = part("text").firstChild;
    if (!written.length) part("says").textContent = "Writing the answer…";
    written.appendData(text);
  }

  async function cancel(form) {
    one("button", form).disabled = true;
    part("says").textContent = "Cancelling the ask…";
    await send(form.action, new URLSearchParams(new FormData(form)), "text/html");
  }

  async function end(form, sent, data) {
    if (data.address) {
      const page = await (await fetch(data.address)).text();
      swap(page, REPLACED);
      history.replaceState(history.state, "", data.address);
      const { text } = form.elements;
      if (!data.failed && text.value.trim() === sent.get("text").trim()) text.value = "";
      one("#writing").hidden = true;
    } else {
      part("says").textContent = data.says;
    }
    announce(data.says);
  }

  function refused(page, form) {
    if (!swap(page, [...REPLACED, ".work-form"])) return location.assign(form.action);
    one("#writing").hidden = true;
    one(".work-form textarea").focus();
    one(".work-form .said")?.scrollIntoView({ block: "nearest" });
  }

  function swap(page, selectors) {
    const fresh = new DOMParser().parseFromString(page, "text/html");
    for (const selector of selectors) {
      const now = one(selector);
      const next = one(selector, fresh);
      if (!next) return false;
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

// Asks a judge model: shows immediately that it is being asked, and lets people cancel. The verdict replaces the message.
// Without a script, the same form shows the verdict at the end, and every other page of the step has a Cancel button.
{
  const one = (selector, from = document) => from.querySelector(selector);
  const send = (form) =>
    fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), redirect: "manual" });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("#judging form, .judge-form")) return;
    event.preventDefault();
    if (form.matches(".judge-form")) ask(form);
    else cancel(form);
  });

  function say(text) {
    one("#judging [data-part=says]").textContent = text;
    document.getElementById("live").textContent = text;
  }

  async function ask(form) {
    const section = form.closest(".judgements");
    const sent = send(form);
    one("#judging").hidden = false;
    form.closest("details").hidden = true;
    say("Asking the judge model…");
    one("#judging button").focus();
    try {
      await sent;
      if (section.isConnected) await renew(section);
    } catch {
      if (section.isConnected) say("The connection was lost. The judge model continues. Reload the page to see its verdict.");
    }
  }

  async function renew(section) {
    const page = await (await fetch(location.href)).text();
    const fresh = one("#judgements", new DOMParser().parseFromString(page, "text/html"));
    if (!fresh) return location.reload();
    section.replaceWith(fresh);
    document.getElementById("live").textContent = one(".note", fresh)?.textContent ?? "";
    one(".note", fresh)?.scrollIntoView({ block: "nearest" });
  }

  // The judge model may be asked a moment after the button appeared.
  async function cancel(form) {
    one("button", form).disabled = true;
    say("Cancelling the judgement…");
    for (let tries = 0; tries < 10 && (await send(form)).status === 404; tries++) {
      await new Promise((done) => setTimeout(done, 300));
    }
  }
}

// Asking a judge with a script: at once it says that the judge is asked, and the ask can be cancelled. What the judge said
// takes its place. Without a script the same form shows it at its end, and any other page of the step has a Cancel.
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

  // The judge may be asked a moment later than the button was there.
  async function cancel(form) {
    one("button", form).disabled = true;
    say("Cancelling the judgement…");
    for (let tries = 0; tries < 10 && (await send(form)).status === 404; tries++) {
      await new Promise((done) => setTimeout(done, 300));
    }
  }
}

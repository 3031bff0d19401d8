// A button that verifies the evidence in this browser. The program is loaded when the button is pressed. This tab keeps the result for
// when its visitor comes back from another page, and shows it with its time, as long as the page names the root and the key that were
// checked. If the browser stores nothing, no result is kept.
for (const place of document.querySelectorAll("[data-check-here]")) {
  const button = place.querySelector("button");
  const status = place.querySelector("[role=status]");
  const name = `checked ${place.dataset.checkHere}`;

  function keep(root) {
    const { result } = status.dataset;
    if (!root && result !== "bad") return;
    const lines = Array.from(status.querySelectorAll(":scope > p, .faults > li"), (each) => each.textContent);
    try {
      sessionStorage.removeItem(name); // an earlier result does not stay if this one cannot be stored
      if (root) sessionStorage.setItem(name, JSON.stringify({ root, key: place.dataset.key, at: new Date().toISOString(), result, lines }));
    } catch {}
  }

  function recall() {
    const { root, key, at, result, lines } = JSON.parse(sessionStorage.getItem(name)) ?? {};
    if (!root || root !== place.dataset.root || key !== place.dataset.key) return;
    const shown = [
      `Checked in this tab at ${at.slice(0, 16).replace("T", " ")} UTC`,
      "Not checked again since this page was opened. The result was:",
      ...lines,
    ].map((words) => Object.assign(document.createElement("p"), { textContent: words }));
    shown[0].className = "result-word";
    if (result === "bad") shown[2].className = "bad";
    status.replaceChildren(...shown);
    button.textContent = "Verify again";
  }

  button.hidden = false;
  try {
    recall();
  } catch {} // what is stored cannot be read
  button.addEventListener("click", async () => {
    if (button.ariaDisabled) return;
    button.ariaDisabled = "true"; // and not disabled, which would lose the focus
    try {
      const { checkHere } = await import(place.dataset.program);
      keep(await checkHere(place.dataset.checkHere, status, { subject: place.dataset.subject, key: place.dataset.key }));
      button.textContent = "Verify again";
    } catch (why) {
      delete status.dataset.result;
      status.textContent = `Nothing was checked: ${why.message}`;
    } finally {
      button.ariaDisabled = null;
    }
  });
}

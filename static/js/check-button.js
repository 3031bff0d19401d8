// A button that verifies the evidence in this browser. The program is loaded when the button is pressed. This tab keeps the result for
// when its visitor comes back from another page, and shows it with its time, as long as the page names the root and the key that were
// checked.
for (const place of document.querySelectorAll("[data-check-here]")) {
  const button = place.querySelector("button");
  const status = place.querySelector("[role=status]");
  const name = `checked ${place.dataset.checkHere}`;

  const keep = (root) => {
    const kept = { root, key: place.dataset.key, at: new Date().toISOString(), result: status.dataset.result, words: status.innerHTML };
    sessionStorage.setItem(name, JSON.stringify(kept));
  };

  function recall() {
    const kept = JSON.parse(sessionStorage.getItem(name));
    if (!kept || kept.root !== place.dataset.root || kept.key !== place.dataset.key) return;
    const when = document.createElement("p");
    when.textContent = `Checked in this browser at ${kept.at.slice(0, 16).replace("T", " ")} UTC, and not again since.`;
    status.innerHTML = kept.words;
    status.dataset.result = kept.result;
    status.firstElementChild.after(when);
    button.textContent = "Verify again";
  }

  recall();
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (button.ariaDisabled) return;
    button.ariaDisabled = "true"; // and not disabled, which would lose the focus
    try {
      const { checkHere } = await import(place.dataset.program);
      const root = await checkHere(place.dataset.checkHere, status, { subject: place.dataset.subject, key: place.dataset.key });
      if (root) keep(root);
      else if (status.dataset.result === "bad") sessionStorage.removeItem(name);
      button.textContent = "Verify again";
    } catch (why) {
      status.textContent = `Nothing was checked: ${why.message}`;
    } finally {
      button.ariaDisabled = null;
    }
  });
}

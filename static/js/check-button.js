// A button that has this browser check the evidence; the program that does it is loaded when somebody presses it.
for (const place of document.querySelectorAll("[data-check-here]")) {
  const button = place.querySelector("button");
  const status = place.querySelector("[role=status]");
  place.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const { checkHere } = await import(place.dataset.program);
      await checkHere(place.dataset.checkHere, status, { subject: place.dataset.subject, key: place.dataset.key });
    } catch (why) {
      status.textContent = `Nothing was checked: ${why.message}`;
    } finally {
      button.disabled = false;
    }
  });
}

// A button that verifies the evidence in this browser. The program is loaded when the button is pressed.
for (const place of document.querySelectorAll("[data-check-here]")) {
  const button = place.querySelector("button");
  const status = place.querySelector("[role=status]");
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (button.ariaDisabled) return;
    button.ariaDisabled = "true"; // and not disabled, which would lose the focus
    try {
      const { checkHere } = await import(place.dataset.program);
      await checkHere(place.dataset.checkHere, status, { subject: place.dataset.subject, key: place.dataset.key });
      button.textContent = "Verify again";
    } catch (why) {
      status.textContent = `Nothing was checked: ${why.message}`;
    } finally {
      button.ariaDisabled = null;
    }
  });
}

// A button that has this browser check the evidence; the program that does it is loaded when somebody presses it.
for (const place of document.querySelectorAll("[data-check-here]")) {
  const button = place.querySelector("button");
  place.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    const { checkHere } = await import(place.dataset.program);
    await checkHere(place.dataset.checkHere, place.querySelector("[role=status]"));
    button.disabled = false;
  });
}

// A button that copies what stands in a field; without this script the field is selected by a click and copied by hand.
for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected: copy it now"; // the clipboard is closed to pages without https
    }
  });
  field.addEventListener("focus", () => field.select());
}

// A button that copies the text of a field. Without this script, the field can be selected and copied manually.
for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = "Copied";
      button.focus();
    } catch {
      button.textContent = "Selected. Copy it now."; // the clipboard is not available to pages without https
    }
  });
  field.addEventListener("focus", () => field.select());
}

// A link that copies its own URL. Without this script, or without access to the clipboard, it opens that URL.
document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("[data-copy-address]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    await navigator.clipboard.writeText(link.href);
  } catch {
    location.assign(link.href);
    return;
  }
  const live = document.getElementById("live");
  if (live) live.textContent = "Link copied";
  const words = link.dataset.words ?? (link.dataset.words = link.textContent);
  link.textContent = "Copied";
  setTimeout(() => (link.textContent = words), 2_000);
});

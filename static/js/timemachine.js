// Time Machine's own script. It only quickens what links and forms do without it: single keys press the links that carry
// them, and what goes wrong on the way to the server is said.

const one = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

// --- single keys: every control says its own keys in data-key, with a space between two

const typing = (element) =>
  element.isContentEditable || /^(input|textarea|select)$/i.test(element.tagName);

// Escape leaves a field that a key led to, where it closes nothing first; then the keys are the page's again, the very next
// one too. Here, on the window, every listener of the document has been asked.
window.addEventListener("keydown", (event) => {
  const field = event.target;
  if (event.key !== "Escape" || event.defaultPrevented || !typing(field) || !field.dataset.key) return;
  if (field.id === "goto") field.value = field.defaultValue;
  field.blur();
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.documentElement.dataset.keys === "off" || typing(event.target)) return;
  if (event.target.closest("[popover], dialog")) return;
  const control = all("[data-key]").find((each) => each.dataset.key.split(" ").includes(event.key));
  if (!control) return;
  event.preventDefault();
  if (event.repeat && one(".htmx-request")) return; // a key held down goes on when the last step has come
  if (typing(control)) {
    control.focus();
    control.select();
  } else {
    window.htmx?.process(control); // a key held down may come before a swapped link has been made quick
    control.click();
  }
});

// --- an error page is a page of its own, never a part of another; where no answer comes, what is there stays

for (const name of ["htmx:response:error", "htmx:responseError"]) {
  document.addEventListener(name, ({ detail: { ctx, xhr } }) => {
    if (!/<html\b/i.test(ctx?.text ?? xhr?.responseText ?? "")) return;
    if (ctx) ctx.swap = "none";
    location.assign(ctx?.request.action ?? xhr.responseURL);
  });
}
for (const name of ["htmx:error", "htmx:sendError", "htmx:timeout"]) document.addEventListener(name, trouble);
document.addEventListener("htmx:after:request", () => one("#trouble")?.remove());

function trouble() {
  if (one("#trouble")) return;
  const note = document.createElement("p");
  note.id = "trouble";
  note.className = "note bad trouble";
  note.setAttribute("role", "alert");
  note.textContent = "The server did not respond. This page may be out of date. ";
  const again = document.createElement("a");
  again.href = location.href;
  again.textContent = "Reload";
  note.append(again);
  document.body.append(note);
}

// --- what its answer is late for is greyed (a transition with a delay would have every step painted twice)

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  ctx.late = setTimeout(() => ctx.target?.classList.add("late"), 300);
});
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  clearTimeout(ctx.late);
  ctx.target?.classList.remove("late");
});

// --- choosing a file is enough to import it

document.addEventListener("change", (event) => {
  if (event.target.matches(".import [type=file]") && event.target.files.length) event.target.form.requestSubmit();
});
document.addEventListener("click", (event) => {
  const file = event.target.closest(".import [type=submit]")?.form.elements.file;
  if (file && !file.files.length) {
    event.preventDefault();
    file.click();
  }
});

// --- files that are dropped on a page that imports are imported, wherever on it

const importing = (event) => event.dataTransfer?.types.includes("Files") && document.querySelector(".import [type=file]");
document.addEventListener("dragover", (event) => {
  if (!importing(event)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "copy";
});
document.addEventListener("drop", (event) => {
  const file = importing(event);
  if (!file || !event.dataTransfer.files.length) return;
  event.preventDefault();
  file.files = event.dataTransfer.files;
  file.form.requestSubmit();
});

// --- a sentence of an answer leads where its mark does; whoever selects some of its words stays

document.addEventListener("click", (event) => {
  const sentence = event.target.closest(".sentence[data-number]");
  if (sentence && getSelection().isCollapsed) sentence.nextElementSibling?.click();
});

// Time Machine's own script. It only speeds up what links and forms do without it: keyboard shortcuts press the links that
// declare them, and failed requests show a message.

const one = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

// A button that chooses a value in a field of its form.
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-choose]");
  if (!button) return;
  const field = button.form.elements[button.dataset.choose];
  field.value = button.value;
  field.focus();
  field.dispatchEvent(new Event("change", { bubbles: true }));
});

// --- keyboard shortcuts: every control declares its keys in data-key, separated by a space

const typing = (element) =>
  element.isContentEditable || /^(input|textarea|select)$/i.test(element.tagName);

// Escape leaves a field that a shortcut focused, unless it closes something first. Then the shortcuts work again, from the
// very next key. Here, on the window, all listeners of the document have already run.
window.addEventListener("keydown", (event) => {
  const field = event.target;
  if (event.key !== "Escape" || event.defaultPrevented || !typing(field) || !field.dataset.key) return;
  if (field.id === "goto") field.value = field.defaultValue;
  field.blur();
});

document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k" || event.shiftKey || event.altKey) return;
  const field = one('[type="search"][data-key="/"]');
  if (!field?.checkVisibility()) return;
  event.preventDefault();
  field.focus();
  field.select();
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.documentElement.dataset.keys === "off" || typing(event.target)) return;
  if (event.target.closest(":popover-open, dialog")) return;
  if (["Home", "End"].includes(event.key) && event.target.closest(".detail")) return; // these scroll the step that is read
  const controls = all("[data-key]").filter((each) => each.dataset.key.split(" ").includes(event.key));
  const control = controls.find((each) => each.checkVisibility()) ?? controls[0];
  if (!control) return;
  event.preventDefault();
  if (event.repeat && !"jk".includes(event.key) && one(".htmx-request")) return; // a key held down continues when the last step has arrived
  if (typing(control)) {
    control.focus();
    control.select();
  } else {
    window.htmx?.process(control); // a key held down may arrive before htmx has processed a swapped link
    control.click();
  }
});

// --- a click outside a menu or a session's About and Escape close it

const FLOATING = "details:is(.menu, .about:has(> .facts))";

document.addEventListener("click", (event) => {
  for (const menu of all(`${FLOATING}[open]`)) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest(`${FLOATING}[open]`);
  if (!menu) return;
  menu.open = false;
  one("summary", menu).focus();
});

// --- an error page replaces the whole page, never a part; without a response, the page stays

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

// --- a part whose response is late is greyed out (a transition with a delay would paint every step twice)

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  ctx.late = setTimeout(() => ctx.target?.classList.add("late"), 300);
  if (ctx.sourceEvent?.type === "every") ctx.request.headers["X-Poll"] = "yes"; // a poll
});
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  clearTimeout(ctx.late);
  ctx.target?.classList.remove("late");
});

// --- choosing a file imports it

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

// --- files dropped anywhere on a page with the import form are imported, or chosen where there are more fields

const importing = (event) =>
  event.dataTransfer?.types.includes("Files") && one(".import [type=file], .drop-zone [type=file]");
const dragging = (on) => document.documentElement.classList.toggle("dragging", on);
document.addEventListener("dragover", (event) => {
  if (!importing(event)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "copy";
  dragging(true);
});
document.addEventListener("dragleave", (event) => event.relatedTarget || dragging(false));
document.addEventListener("drop", (event) => {
  const file = importing(event);
  dragging(false);
  if (!file || !event.dataTransfer.files.length) return;
  event.preventDefault();
  file.files = event.dataTransfer.files;
  if (file.closest(".import")) file.form.requestSubmit();
});

// --- what was done appears as a toast: the messages float, and stay until they are closed or the page is left

function closable(note) {
  const close = document.createElement("button");
  close.type = "button";
  close.className = "toast-close";
  close.textContent = "×";
  close.setAttribute("aria-label", "Close this message");
  close.addEventListener("click", () => note.remove());
  note.append(close);
}

const done = one(".messages");
if (done && !one(".messages > :not(.success)")) {
  done.classList.add("toasts");
  all(".note", done).forEach(closable);
}

// --- a job that finished while its page was open is announced

document.addEventListener("htmx:after:swap", () => {
  const over = one("#progress[data-announce]");
  if (!over || over.dataset.announced) return;
  over.dataset.announced = "yes";
  one("#live").textContent = over.dataset.announce;
});

// --- a file that is made first, such as evidence: a toast counts the seconds until a cookie tells that the download has begun

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[download][href]");
  if (!link?.protocol.startsWith("http")) return;
  const address = link.getAttribute("href");
  const token = Math.random().toString(36).slice(2, 14).padEnd(8, "0");
  link.search += `${link.search ? "&" : "?"}begun=${token}`;
  setTimeout(() => link.setAttribute("href", address));
  prepare(token);
});

function prepare(token) {
  const started = Date.now();
  const toasts = document.createElement("div");
  toasts.className = "messages toasts";
  toasts.innerHTML = "<p class=note><span></span></p>";
  const note = toasts.firstChild;
  closable(note);
  const watching = setInterval(() => {
    if (toasts.isConnected !== note.isConnected || document.cookie.includes(`tm_begun_${token}=`)) {
      clearInterval(watching);
      toasts.remove();
    } else if (Date.now() - started > 600_000) {
      clearInterval(watching);
      one("span", note).textContent = "The download has not begun after 10 minutes. Try again.";
    } else {
      if (!toasts.isConnected) one("#live").textContent = "Preparing the download";
      document.body.append(toasts);
      one("span", note).textContent = `Preparing the download … ${Math.floor((Date.now() - started) / 1000)} s`;
    }
  }, 300);
}

// --- clicking a sentence of an answer follows its mark, and clicking an excerpt opens its answer; selecting text does neither

document.addEventListener("click", (event) => {
  if (!getSelection().isCollapsed) return;
  event.target.closest(".sentence[data-number]")?.nextElementSibling?.click();
  const excerpt = event.target.closest(".excerpt");
  if (excerpt) one(":scope > a:only-of-type", excerpt.parentElement)?.click();
});

// --- what is being corrected is no longer wrong, also where htmx keeps the field

document.addEventListener("input", ({ target }) => target.removeAttribute("aria-invalid"));

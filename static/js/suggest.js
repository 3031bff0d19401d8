// Suggestions below the filter while someone types in it. The field keeps the focus: arrow keys choose, Enter accepts,
// Escape closes.
{
  const field = () => document.getElementById("filter");
  const box = () => document.getElementById("suggestions");
  const options = () => all("[role=option]", box());
  const chosen = () => one('[aria-selected="true"]', box());
  const units = (text) => [...text].length; // the server counts characters, a caret counts UTF-16

  let wanted = false; // a response that arrives after the list was closed does not open it
  let isOpen = false; // also while one response replaces another

  function ask() {
    wanted = true;
    const input = field();
    document.getElementById("filter-at").value = units(input.value.slice(0, input.selectionStart));
    window.htmx?.trigger(input, "typed");
  }

  function choose(option) {
    chosen()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) field().setAttribute("aria-activedescendant", option.id);
    else field().removeAttribute("aria-activedescendant");
  }

  function open(on) {
    isOpen = on;
    box().hidden = !on;
    field().setAttribute("aria-expanded", on);
    choose(null);
  }

  function close() {
    wanted = false;
    open(false);
  }

  function take(option) {
    const { filter, at } = option.dataset;
    const input = field();
    const caret = [...filter].slice(0, at).join("").length;
    input.value = filter;
    input.setSelectionRange(caret, caret);
    close();
    if (filter[caret - 1] === ":") ask();
  }

  document.addEventListener("focusin", ({ target }) => {
    if (target !== field()) return;
    const says = { role: "combobox", "aria-autocomplete": "list", "aria-controls": "suggestions", "aria-expanded": "false" };
    for (const [name, value] of Object.entries(says)) target.setAttribute(name, value);
    if (!target.value) ask();
  });
  document.addEventListener("focusout", ({ target }) => target.id === "filter" && box() && close());
  document.addEventListener("input", ({ target }) => target.id === "filter" && ask());
  document.addEventListener("htmx:after:swap", () => {
    if (!box() || box().dataset.seen || document.activeElement !== field()) return;
    box().dataset.seen = "true";
    open(wanted && options().length > 0);
  });
  document.addEventListener("mousedown", (event) => {
    const option = event.target.closest("#suggestions [role=option]");
    if (!option) return;
    event.preventDefault();
    take(option);
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.id !== "filter" || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = options();
    const at = all.indexOf(chosen());
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && isOpen) choose(all[at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length]);
    else if (step) ask();
    else if (event.key === "Enter" && isOpen && at >= 0) take(all[at]);
    else if (event.key === "Escape" && isOpen) close();
    else return;
    event.preventDefault();
  });
  // Back from a page that a filter opened: the field shows the filter of this page.
  window.addEventListener("pageshow", ({ persisted }) => persisted && field()?.form.reset());
}

// The list below a model picker: what was typed filters it by name, provider and price; arrow keys choose, Enter accepts,
// Escape closes. Without a script, the browser shows the same models as suggestions.
{
  const SEPARATORS = /[,\s]/;
  const isPicker = (element) => element?.matches?.("input[data-models]");
  const listOf = (input) => document.getElementById(input.dataset.list);
  const boxOf = (input) => document.getElementById(`${input.id}_models`);
  const optionsIn = (box) => [...(box?.children ?? [])];
  const chosenIn = (box) => box?.querySelector('[aria-selected="true"]');

  // A picker for several models completes the last of them.
  const written = (input) =>
    input.dataset.models === "several" ? input.value.split(SEPARATORS).at(-1) : input.value.trim();
  const others = (input) => input.value.slice(0, input.value.length - written(input).length);

  function prepare(input) {
    if (boxOf(input) || !document.getElementById(input.getAttribute("list"))) return;
    input.dataset.list = input.getAttribute("list");
    input.removeAttribute("list"); // the browser's own list would cover ours
    const box = document.createElement("ul");
    box.id = `${input.id}_models`;
    box.className = "model-list";
    box.hidden = true;
    box.setAttribute("role", "listbox");
    box.setAttribute("aria-label", "Models");
    input.after(box);
    const says = { role: "combobox", "aria-autocomplete": "list", "aria-controls": box.id, "aria-expanded": "false" };
    for (const [name, value] of Object.entries(says)) input.setAttribute(name, value);
  }

  function show(input, everything) {
    const words = everything ? [] : written(input).toLowerCase().split(/[\s:]+/);
    const fits = (option) => {
      const text = `${option.value} ${option.textContent} ${option.dataset.price}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const found = [...listOf(input).options].filter(fits);
    boxOf(input).replaceChildren(...found.map((option, at) => row(input, option, at)));
    open(input, found.length > 1 || (found.length === 1 && found[0].value !== written(input)));
  }

  function row(input, option, at) {
    const item = document.createElement("li");
    item.id = `${input.id}_model_${at}`;
    item.dataset.value = option.value;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", "false");
    if (option.dataset.why) item.className = "unusable";
    if (option.dataset.why) item.title = option.dataset.why;
    for (const [name, text] of [["mono", option.value], ["price", option.dataset.price], ["quiet", option.textContent]]) {
      const part = document.createElement("span");
      part.className = name;
      part.textContent = text;
      item.append(part, " ");
    }
    return item;
  }

  function open(input, on) {
    boxOf(input).hidden = !on;
    boxOf(input).style.top = `${input.offsetTop + input.offsetHeight + 2}px`;
    input.setAttribute("aria-expanded", on);
    choose(input, null);
  }

  function choose(input, option) {
    chosenIn(boxOf(input))?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
  }

  function take(input, option) {
    input.value = others(input) + option.dataset.value;
    open(input, false);
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }

  document.addEventListener("focusin", ({ target }) => isPicker(target) && prepare(target));
  document.addEventListener("focusout", ({ target }) => isPicker(target) && boxOf(target) && open(target, false));
  document.addEventListener("input", ({ target }) => isPicker(target) && boxOf(target) && show(target));
  document.addEventListener("click", ({ target }) => isPicker(target) && boxOf(target)?.hidden && show(target, true));
  document.addEventListener("mousedown", (event) => {
    const option = event.target.closest(".model-list > li");
    if (!option) return;
    event.preventDefault();
    take(option.parentElement.previousElementSibling, option);
  });
  document.addEventListener("keydown", (event) => {
    const input = event.target;
    if (!isPicker(input) || !boxOf(input) || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const box = boxOf(input);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && box.hidden) show(input, true);
    const all = optionsIn(box);
    const at = all.indexOf(chosenIn(box));
    const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length;
    if (step) choose(input, box.hidden ? null : all[next]);
    else if (event.key === "Enter" && !box.hidden && at >= 0) take(input, all[at]);
    else if (event.key === "Escape" && !box.hidden) open(input, false);
    else return;
    event.preventDefault();
  });
  if (isPicker(document.activeElement)) prepare(document.activeElement);
}

// A link with `data-keeps-form` leaves its form for a moment, to add a model server. The link back ends in `#kept`: it fills
// the form with what was chosen before.
{
  const KEPT = "#kept";
  const stored = () => `form ${location.pathname}${location.search}`;
  const fields = (form) => [...form.elements].filter(({ name, type }) => name && !["hidden", "submit"].includes(type));
  const isChoice = ({ type }) => ["checkbox", "radio"].includes(type);

  document.addEventListener("click", ({ target }) => {
    const form = target.closest?.("a[data-keeps-form]")?.closest("form");
    if (!form) return;
    const values = fields(form).map((field) => (isChoice(field) ? field.checked : field.value));
    sessionStorage.setItem(stored(), JSON.stringify(values));
  });

  function fill(form, values) {
    const found = fields(form);
    if (found.length !== values.length) return; // it has other fields now
    for (const [at, field] of found.entries()) {
      if (field[isChoice(field) ? "checked" : "value"] === values[at]) continue;
      field[isChoice(field) ? "checked" : "value"] = values[at];
      field.closest("details")?.setAttribute("open", "");
    }
  }

  const form = document.querySelector(".launch-form");
  const values = sessionStorage.getItem(stored());
  if (form && values && location.hash === KEPT) fill(form, JSON.parse(values));
  if (location.hash === KEPT) history.replaceState(history.state, "", location.pathname + location.search);
  sessionStorage.removeItem(stored());
}

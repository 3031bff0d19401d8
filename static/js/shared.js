// The steps on a share link: when another one was fetched, its row and its place in the picture are marked, and it is announced.
{
  const step = () => document.getElementById("step");

  function follow(isNewStep) {
    const { sequence } = step().dataset;
    pointTo(Number(sequence));
    for (const link of all(".row > [aria-current]")) link.removeAttribute("aria-current");
    const row = document.getElementById(`s${sequence}`);
    if (!row) {
      const address = stepAddress({ step: sequence });
      if (isNewStep) window.htmx?.ajax("GET", address, { source: "#steps", target: "#steps", swap: "outerHTML" });
      return;
    }
    one("a", row).setAttribute("aria-current", "step");
    const list = one(".list");
    const above = row.getBoundingClientRect().top - list.getBoundingClientRect().top;
    if (above < 0 || above > list.clientHeight - row.clientHeight) list.scrollTop += above - list.clientHeight / 2;
  }

  new MutationObserver((changes) => {
    const added = changes.flatMap((change) => [...change.addedNodes]);
    if (!added.some((node) => node === step() || node.id === "steps")) return;
    follow(added.includes(step()));
    const live = document.getElementById("live");
    if (live && added.includes(step())) live.textContent = step().dataset.announce;
  }).observe(document.getElementById("timeline"), { childList: true, subtree: true });
  follow(false);
}

// Marks the section of the settings that is being read in the navigation beside them.

const links = [...document.querySelectorAll('.settings-nav a[href*="#"]')].filter((link) => link.pathname === location.pathname);
const sections = links.map((link) => document.getElementById(link.hash.slice(1))).filter(Boolean);
let current;

// On a phone the navigation is one line that is scrolled.
function intoView(link) {
  const nav = link.closest("nav");
  nav.scrollLeft = link.offsetLeft - nav.clientWidth / 2;
}

function mark() {
  const end = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
  const read = sections.filter((section) => section.getBoundingClientRect().top <= innerHeight / 3);
  const chosen = document.getElementById(location.hash.slice(1));
  const now = end && sections.includes(chosen) ? chosen : end ? sections.at(-1) : (read.at(-1) ?? sections[0]);
  if (now === current) return;
  current = now;
  for (const link of links) {
    if (link.hash === `#${now.id}`) {
      link.setAttribute("aria-current", "true");
      intoView(link);
    } else link.removeAttribute("aria-current");
  }
}

const page = document.querySelector('.settings-nav [aria-current="page"]');
if (page) intoView(page);
if (sections.length) {
  addEventListener("scroll", mark, { passive: true });
  addEventListener("hashchange", mark);
  mark();
}

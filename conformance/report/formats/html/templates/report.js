"use strict";
// Without it the page shows everything; with it, laws can be filtered and the theme chosen.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const all = (selector) => [...document.querySelectorAll(selector)];

  const theme = document.getElementById("theme");
  const themed = (name) => (name ? root.setAttribute("data-theme", name) : root.removeAttribute("data-theme"));
  theme.addEventListener("change", () => themed(theme.value));
  themed(theme.value); // a browser may have kept the choice

  const form = document.getElementById("filters");
  const find = document.getElementById("find");
  const laws = all("tr[data-law]");
  const failures = all(".failure");
  const filter = () => {
    const chosen = (name) => new Set(all(`input[name=${name}]:checked`).map((box) => box.value));
    const verdicts = chosen("verdict");
    const kinds = chosen("kind");
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = new Set();
    for (const law of laws) {
      const text = law.textContent.toLowerCase();
      const { verdict, kind } = law.dataset;
      law.hidden = !(verdicts.has(verdict) && kinds.has(kind) && words.every((word) => text.includes(word)));
      if (!law.hidden) kept.add(law.dataset.law);
    }
    for (const failure of failures) failure.hidden = !kept.has(failure.dataset.law);
    document.querySelector(".none").hidden = !failures.length || failures.some((failure) => !failure.hidden);
    document.getElementById("shown").textContent = `${kept.size} of ${laws.length} laws`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  filter();

  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) {
      target.open = true;
      target.querySelector("summary").focus();
    }
  };
  addEventListener("hashchange", reveal);
  reveal();

  // A wide diagram is looked at from its middle, where it begins; its box has no width before it is shown.
  const centre = (box) => (box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2);
  all(".scroll.wide").forEach(centre);
  for (const failure of failures) {
    failure.addEventListener("toggle", () => failure.querySelectorAll(".scroll.wide").forEach(centre), { once: true });
  }

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])");
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
})();

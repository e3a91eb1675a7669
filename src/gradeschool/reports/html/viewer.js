// The leaderboard of `gradeschool view`, and the line on a report with the progress of its runs.
const BASE = `/${location.pathname.split("/")[1]}`;
const EVERY = 1500; // milliseconds between two updates of the runs

function runLink(names) {
  return `${BASE}/run?${names.map((name) => `run=${encodeURIComponent(name)}`).join("&")}`;
}

function isGoing(run) {
  return run.answered + run.failed < run.planned;
}

function percent(share) {
  return (100 * share).toFixed(2);
}

class Board {
  constructor() {
    this.selected = new Set();
    this.words = "";
    const search = make("input", { type: "search", id: "runs-q", placeholder: "model, protocol, dataset", spellcheck: "false", on: ["input", () => {
      this.words = search.value.trim().toLowerCase();
      this.show(this.runs);
    }] });
    const filters = make("form", { class: "filters", role: "search", autocomplete: "off", on: ["submit", (event) => event.preventDefault()] },
      make("label", { class: "search" }, "Filter ", search));
    this.table = make("div", { class: "scroll", role: "region", "aria-label": "Runs", tabindex: "0" });
    this.compare = make("p", { class: "note" });
    byBoard("board").append(filters, this.table, this.compare);
  }

  show(runs) {
    this.runs = runs;
    const matches = runs.filter((run) => !this.words
      || [run.name, run.model, run.protocol, run.dataset].join(" ").toLowerCase().includes(this.words));
    matches.sort((a, b) => (b.accuracy ?? -1) - (a.accuracy ?? -1) || a.name.localeCompare(b.name));
    const head = make("tr", {}, ...["", "Run", "%", "95 % interval", "Answered", "Protocol", "Dataset"].map((name, place) =>
      make("th", { scope: "col", class: place > 1 && place < 5 ? "number" : undefined },
        name || make("span", { class: "visually-hidden" }, "Select"))));
    const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.run : undefined;
    this.table.replaceChildren(make("table", { class: "rows board" }, make("thead", {}, head),
      make("tbody", {}, ...matches.map((run) => this.row(run)))));
    if (focused !== undefined) for (const box of this.table.querySelectorAll("input")) if (box.dataset.run === focused) box.focus();
    this.showComparison();
  }

  row(run) {
    if (run.error) return make("tr", {}, make("td", {}), textBlock("th", { scope: "row" }, run.name), textBlock("td", { colspan: "5", class: "missing" }, run.error));
    const box = make("input", { type: "checkbox", "data-run": run.name, "aria-label": `Select ${run.name}`, on: ["change", () => {
      if (box.checked) this.selected.add(run.name);
      else this.selected.delete(run.name);
      this.showComparison();
    }] });
    box.checked = this.selected.has(run.name);
    const name = make("th", { scope: "row" }, run.answered ? textBlock("a", { href: runLink([run.name]) }, run.name) : textBlock("span", {}, run.name),
      textBlock("small", { class: "model" }, run.model));
    const number = (text) => make("td", { class: "number" }, text);
    const settings = make("td", {});
    appendText(settings, run.protocol);
    if (run.changes.length) settings.append(textBlock("small", { class: "changed" }, run.changes.join(", ")));
    return make("tr", { class: isGoing(run) ? "going" : undefined }, make("td", {}, box), name,
      number(run.accuracy === undefined ? "–" : percent(run.accuracy)),
      number(run.interval ? `${percent(run.interval[0])} – ${percent(run.interval[1])}` : ""),
      number(`${run.answered.toLocaleString("en")} of ${run.planned.toLocaleString("en")}`),
      settings, textBlock("td", {}, run.dataset));
  }

  showComparison() {
    const names = [...this.selected].filter((name) => this.runs.some((run) => run.name === name));
    this.compare.replaceChildren(names.length > 1
      ? make("a", { href: runLink(names), id: "compare" }, `See the ${names.length} selected runs side by side`) : "");
  }
}

function byBoard(id) {
  return document.getElementById(id);
}

// A line at the top of a report: a link to all runs, and the progress of the shown runs.
class Line {
  constructor() {
    this.names = new URLSearchParams(location.search).getAll("run");
    this.words = make("span", { role: "status" });
    document.querySelector("header").prepend(make("p", { class: "line" }, make("a", { href: `${BASE}/` }, "All runs"), " ", this.words));
  }

  show(runs) {
    const own = runs.filter((run) => this.names.includes(run.name));
    const answered = own.reduce((sum, run) => sum + (run.answered || 0), 0);
    if (this.first === undefined) this.first = answered;
    const fresh = answered - this.first;
    const going = own.filter((run) => !run.error && isGoing(run)).map((run) => `${run.answered} of ${run.planned} answered`);
    const parts = going.length ? [going.join(", ")] : [];
    this.words.replaceChildren(parts.join(""), fresh > 0 ? " " : "",
      fresh > 0 ? make("a", { href: location.href, id: "reload", on: ["click", (event) => {
        event.preventDefault();
        location.reload();
      }] }, `Show ${fresh} new ${fresh === 1 ? "answer" : "answers"}`) : "");
  }
}

(async () => {
  const board = byBoard("board");
  const view = board ? new Board() : new Line();
  const status = byBoard("status");
  let last = "";
  for (;;) {
    try {
      const text = await (await fetch(`${BASE}/state`)).text();
      if (text !== last) view.show(JSON.parse(text));
      last = text;
      if (status) status.textContent = JSON.parse(text).length ? "" : "There are no runs in this folder yet.";
      if (board) document.documentElement.dataset.ready = "yes";
    } catch {
      if (status) status.textContent = "The server has stopped; start gradeschool view again.";
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY));
  }
})();

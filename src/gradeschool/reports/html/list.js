// A list that creates only the visible rows.
const OVERSCAN = 6, MOST_PIPS = 12;

class ProblemList {
  constructor(store, element, room, open) {
    Object.assign(this, { store, element, room, open, problems: [], active: 0, matches: null });
    this.rowHeight = 3.25 * parseFloat(getComputedStyle(document.documentElement).fontSize);
    element.addEventListener("scroll", () => this.render(), { passive: true });
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("click", (event) => {
      const row = event.target.closest("[data-at]");
      if (row) this.choose(Number(row.dataset.at));
    });
    new ResizeObserver(() => this.render()).observe(element);
  }

  set(problems, matches, state) {
    this.problems = problems;
    this.matches = matches;
    this.state = state;
    this.room.style.height = `${problems.length * this.rowHeight}px`;
    this.active = Math.max(0, problems.indexOf(state.problem));
    this.rendered = "";
    this.scrollToActive();
    this.render();
  }

  choose(at) {
    if (!this.problems.length) return;
    this.active = Math.min(Math.max(at, 0), this.problems.length - 1);
    this.rendered = "";
    this.scrollToActive();
    this.render();
    this.open(this.problems[this.active]);
  }

  scrollToActive() {
    const top = this.active * this.rowHeight, height = this.element.clientHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + this.rowHeight > this.element.scrollTop + height) {
      this.element.scrollTop = top + this.rowHeight - height;
    }
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === "Enter") document.getElementById("detail").focus();
    else if (event.key in steps) this.choose(Math.min(Math.max(this.active + steps[event.key], 0), this.problems.length - 1));
    else return;
    event.preventDefault();
  }

  render() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.rowHeight) - OVERSCAN);
    const visible = Math.ceil(this.element.clientHeight / this.rowHeight) + 2 * OVERSCAN;
    const last = Math.min(this.problems.length, first + visible);
    const key = `${first}-${last}`;
    if (key === this.rendered) return;
    this.rendered = key;
    const rows = [];
    for (let at = first; at < last; at++) rows.push(this.row(at));
    this.room.replaceChildren(...rows);
    if (this.problems.length) this.element.setAttribute("aria-activedescendant", `row-${this.active}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  row(at) {
    const number = this.problems[at];
    const [id, question, gold] = this.store.problems[number];
    const element = make("div", {
      role: "option", id: `row-${at}`, class: "row", "data-at": at, "aria-setsize": this.problems.length,
      "aria-posinset": at + 1, "aria-selected": String(at === this.active),
    }, textBlock("span", { class: "id" }, id), textBlock("span", { class: "ask" }, question.slice(0, 160)),
    this.outcomes(number), textBlock("span", { class: "answer" }, gold));
    element.style.top = `${at * this.rowHeight}px`;
    return element;
  }

  // The matching completions of a problem: one pip each if they are few, else a count and a bar.
  outcomes(number) {
    const { store, state, matches } = this;
    const codes = store.codes[state.scorer];
    const found = [];
    for (let at = store.first[number]; at < store.first[number + 1]; at++) if (matches[at]) found.push(codes[at]);
    const right = found.filter((code) => code === CORRECT).length;
    const label = found.length === 1 ? OUTCOMES[found[0]] : `${right} of ${found.length} correct`;
    if (found.length <= MOST_PIPS) {
      return make("span", { class: "pips", role: "img", "aria-label": label },
        ...found.map((code) => make("span", { class: `pip o${code}` })));
    }
    const bar = make("span", { class: "share", "aria-hidden": "true" }, make("span", {}));
    bar.firstChild.style.width = `${100 * right / found.length}%`;
    return make("span", { class: "pips" }, `${right}/${found.length}`, bar);
  }
}

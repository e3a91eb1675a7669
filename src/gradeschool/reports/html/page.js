// Filters, search, links: the state of the explorer is in the address, so that it can be shared.
const byId = (id) => document.getElementById(id);
const SLICE = 24; // milliseconds of searching before the page may breathe

function placesOf(store, id) {
  return store.problems.flatMap((problem, place) => (problem[0] === id ? [place] : []));
}

function linkTo(state) {
  const store = linkTo.store, fields = new URLSearchParams();
  if (state.problem !== null) {
    const id = store.problems[state.problem][0];
    fields.set("problem", id);
    // Two datasets of a page may have the same ids.
    const place = placesOf(store, id).indexOf(state.problem);
    if (place > 0) fields.set("number", place + 1);
  }
  if (state.completion !== null) fields.set("completion", state.completion);
  if (state.run !== null) fields.set("run", store.runs[state.run]);
  if (state.scorer !== store.headline) fields.set("scorer", store.scorers[state.scorer]);
  if (state.vs !== null) fields.set("vs", store.scorers[state.vs]);
  if (state.out) fields.set("out", state.out);
  if (state.cause !== null) fields.set("cause", store.causes[state.cause]);
  if (state.q) fields.set("q", state.q);
  if (store.valued && !state.values) fields.set("values", "no");
  return `#${fields}`;
}

function stateOf(store, hash) {
  const fields = new URLSearchParams(hash.slice(1));
  const place = (list, name) => {
    const at = list.indexOf(fields.get(name));
    return at < 0 ? null : at;
  };
  const id = fields.get("problem"), completion = Number(fields.get("completion") ?? NaN);
  const places = id === null ? [] : placesOf(store, id);
  return {
    problem: places[Number(fields.get("number") ?? 1) - 1] ?? null,
    completion: Number.isInteger(completion) ? completion : null,
    run: place(store.runs, "run"), scorer: place(store.scorers, "scorer") ?? store.headline,
    vs: place(store.scorers, "vs"), out: fields.get("out") || "",
    cause: place(store.causes, "cause"), q: fields.get("q") || "", values: fields.get("values") !== "no",
  };
}

// Which completions match all filters except the search.
function filtered(store, state, matches) {
  const codes = store.codes[state.scorer], others = state.vs === null ? null : store.codes[state.vs];
  const not = state.out === "not", out = /^[0-3]$/.test(state.out) ? Number(state.out) : -1;
  for (let at = 0; at < store.count; at++) {
    const code = codes[at];
    matches[at] = (state.run === null || store.run[at] === state.run)
      && (out < 0 || code === out) && (!not || code !== CORRECT)
      && (others === null || code !== others[at])
      && (state.cause === null || store.cause[at] === state.cause + 1) ? 1 : 0;
  }
}

// Keep the matches whose problem or text contains the words; load texts as needed.
async function searched(store, query, matches, isCurrent, tell) {
  const words = new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  const asked = store.problems.map(([id, question, gold]) => id === query || gold === query || words.test(question));
  let started = performance.now();
  for (let start = 0; start < store.count; start += store.chunk) {
    const number = start / store.chunk, end = Math.min(start + store.chunk, store.count);
    const rows = store.opened.get(number) || await chunkOf(store, number);
    for (let at = start; at < end; at++) {
      if (matches[at] && !asked[store.problem[at]] && !words.test(rows[at - start][0])) matches[at] = 0;
    }
    if (performance.now() - started > SLICE) {
      tell(end / store.count);
      await new Promise((resolve) => setTimeout(resolve));
      if (!isCurrent()) return false;
      started = performance.now();
    }
  }
  return isCurrent();
}

// The number of matching completions of a problem; 0 if only mixed problems count and it is not.
function counted(store, state, matches, problem) {
  const start = store.first[problem], end = store.first[problem + 1], codes = store.codes[state.scorer];
  let any = 0, right = 0;
  for (let at = start; at < end; at++) {
    any += matches[at];
    right += matches[at] && codes[at] === CORRECT ? 1 : 0;
  }
  if (state.out !== "mixed" || (right > 0 && right < any)) return any;
  matches.fill(0, start, end);
  return 0;
}

class Explorer {
  constructor(store) {
    this.store = store;
    this.turn = 0;
    this.matches = new Uint8Array(store.count);
    this.list = new ProblemList(store, byId("list"), byId("room"), (problem) => this.open(problem));
    this.fill();
    byId("filters").addEventListener("input", (event) => this.changed(event));
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("filters").addEventListener("reset", (event) => {
      event.preventDefault();
      this.go(stateOf(store, "#"));
    });
    addEventListener("hashchange", () => this.followed());
  }

  fill() {
    const { store } = this;
    const options = (id, names, any) => byId(id).append(
      ...(any === null ? [] : [make("option", { value: "" }, any)]),
      ...names.map((name, at) => textBlock("option", { value: at }, name)));
    options("f-run", store.runs, "all");
    options("f-scorer", store.scorers, null);
    options("f-vs", store.scorers, "any scorer or none");
    options("f-cause", store.causes, "any");
    if (store.runs.length === 1) byId("f-run").parentElement.remove();
    if (!store.valued) byId("f-values").parentElement.remove();
    byId("filters").hidden = byId("browser").hidden = false;
  }

  changed(event) {
    const number = (id) => byId(id) && byId(id).value !== "" ? Number(byId(id).value) : null;
    const state = {
      ...this.state, completion: null, run: number("f-run"), scorer: number("f-scorer"), vs: number("f-vs"),
      out: byId("f-out").value, cause: number("f-cause"), q: byId("f-q").value.trim(),
      values: !byId("f-values") || byId("f-values").checked,
    };
    clearTimeout(this.typing);
    if (event.target.id === "f-q") this.typing = setTimeout(() => this.go(state), 120);
    else this.go(state);
  }

  followed() {
    if (location.hash.includes("=")) {
      this.go(stateOf(this.store, location.hash));
      byId("explorer").scrollIntoView();
    } else openDetails();
  }

  show() {
    const { state } = this;
    const write = (id, value) => { if (byId(id)) byId(id).value = value === null ? "" : String(value); };
    write("f-run", state.run);
    write("f-scorer", state.scorer);
    write("f-vs", state.vs);
    write("f-out", state.out);
    write("f-cause", state.cause);
    if (byId("f-values")) byId("f-values").checked = state.values;
    if (byId("f-q").value.trim() !== state.q) byId("f-q").value = state.q;
  }

  // Go to a state: filter, search, list, and open its problem or the first one.
  async go(state) {
    const turn = ++this.turn;
    const { store } = this;
    this.state = state;
    this.show();
    const matches = new Uint8Array(store.count);
    filtered(store, state, matches);
    if (state.q) {
      const tell = (share) => { byId("tally").textContent = `Searching, ${Math.round(100 * share)} %`; };
      const whole = await searched(store, state.q, matches, () => turn === this.turn, tell);
      if (!whole) return;
    }
    const problems = [];
    let completions = 0;
    for (let problem = 0; problem < store.problems.length; problem++) {
      const any = counted(store, state, matches, problem);
      if (any) problems.push(problem);
      completions += any;
    }
    this.matches = matches;
    const named = state.problem !== null && problems.includes(state.problem);
    this.state = { ...state, problem: named ? state.problem : problems.length ? problems[0] : null };
    this.tally(problems.length, completions);
    this.list.set(problems, matches, this.state);
    await this.detail(turn);
    if (named) this.address();
    else if (location.hash.includes("=") || state !== this.initial) this.address({ ...this.state, problem: null });
  }

  tally(problems, completions) {
    const { store } = this, figure = (value) => value.toLocaleString("en");
    byId("tally").textContent = completions === store.count
      ? `${figure(problems)} problems, ${figure(completions)} completions`
      : `${figure(problems)} of ${figure(store.problems.length)} problems, ${figure(completions)} of ${figure(store.count)} completions`;
  }

  async detail(turn) {
    const { state, store } = this;
    const into = byId("detail");
    if (state.problem === null) {
      into.replaceChildren(make("p", { class: "faint" }, "Nothing matches these filters."));
      return;
    }
    const fresh = make("div", {});
    await showProblem(store, state, state.problem, this.matches, fresh);
    if (turn !== this.turn) return;
    into.replaceChildren(...fresh.childNodes);
    into.scrollTop = 0;
    const target = state.completion === null ? null : byId(`c-${state.completion}`);
    if (target) target.scrollIntoView({ block: "nearest" });
  }

  open(problem) {
    this.state = { ...this.state, problem, completion: null };
    this.address();
    this.detail(++this.turn);
  }

  address(state = this.state) {
    const link = linkTo(state);
    try {
      history.replaceState(null, "", link === "#" ? location.pathname + location.search : link);
    } catch { /* browsers limit the rate, and some pages have no address: the link is optional */ }
  }
}

function openDetails() {
  const target = location.hash.length > 1 ? byId(decodeURIComponent(location.hash.slice(1))) : null;
  const closed = target && target.closest("details.run");
  if (closed) {
    closed.open = true;
    target.scrollIntoView();
  }
}

addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details.run")) one.open = true;
});

openStore().then(async (store) => {
  linkTo.store = store;
  const explorer = new Explorer(store);
  explorer.initial = stateOf(store, location.hash.includes("=") ? location.hash : "#");
  await explorer.go(explorer.initial);
  if (location.hash.includes("=")) byId("explorer").scrollIntoView();
  else openDetails();
  document.documentElement.dataset.ready = "yes";
}).catch((error) => {
  byId("tally").textContent = `The completions cannot be opened: ${error.message}`;
  throw error;
});

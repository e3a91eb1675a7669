"use strict";
const byId = (id) => document.getElementById(id);
const figure = (value) => value.toLocaleString("en");
const plural = (count, noun) => `${figure(count)} ${noun}${count === 1 ? "" : "s"}`;
const OUTCOMES = ["correct", "wrong", "no answer", "error"];
const CORRECT = 0, ERROR = 3;
const SHOWN = 10, MORE = 20; // completions of a problem: at first, and with each click
const LONG = 20000; // characters of a completion before a click
const MOST_PIPS = 12;
const SLICE = 24; // milliseconds of searching before the page may breathe
const EVERY = 1500; // milliseconds between two updates of `gradeschool view`

// Everything that a model wrote is a text node; invisible characters are shown by their number.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu;
const PLAIN = new Set(["\n", "\t", "\u200d"]);

function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") element.addEventListener(value[0], value[1]);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

// Append a text; invisible characters are shown by their number.
function appendText(parent, text) {
  let done = 0;
  for (const found of text.matchAll(INVISIBLE)) {
    if (PLAIN.has(found[0])) continue;
    if (found.index > done) parent.append(text.slice(done, found.index));
    const number = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    parent.append(make("span", { class: "unseen" }, `U+${number}`));
    done = found.index + found[0].length;
  }
  if (done < text.length) parent.append(text.slice(done));
}

function textBlock(tag, properties, text) {
  const element = make(tag, properties);
  appendText(element, text);
  return element;
}

// The blocks of the page: compressed, unpacked on demand, never parsed as markup.
async function unpacked(id) {
  const element = byId(id), binary = atob(element.textContent);
  element.remove(); // opened once; its text need not stay in memory
  const stream = new Blob([Uint8Array.from(binary, (char) => char.charCodeAt(0))]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function unpackedJson(id) {
  return JSON.parse(new TextDecoder().decode(await unpacked(id)));
}

// All completions in the order of problem, run and sample, a column for each fact;
// `first[p]` is where the completions of problem p begin.
async function openStore() {
  const facts = await unpackedJson("problems"), buffer = await unpacked("columns");
  const count = buffer.byteLength / (4 * 4 + 3 + facts.scorers.length);
  const numbers = (at) => new Int32Array(buffer, 4 * at * count, count);
  const bytes = (at) => new Uint8Array(buffer, 16 * count + at * count, count);
  const store = {
    ...facts, count, problem: numbers(0), run: numbers(1), sample: numbers(2), tokens: numbers(3),
    finish: bytes(0), cause: bytes(1), flag: bytes(2), codes: facts.scorers.map((_, at) => bytes(3 + at)),
    first: new Int32Array(facts.problems.length + 1), opened: new Map(),
  };
  for (let at = 0; at < count; at++) store.first[store.problem[at] + 1]++;
  for (let at = 0; at < facts.problems.length; at++) store.first[at + 1] += store.first[at];
  return store;
}

function blockOf(store, id) {
  if (!store.opened.has(id)) store.opened.set(id, unpackedJson(id));
  return store.opened.get(id);
}

// A completion's row: {text, readings, left, error, thinking, values}.
async function textOf(store, at) {
  return (await blockOf(store, `texts-${Math.floor(at / store.chunk)}`))[at % store.chunk];
}

// The prompt of a problem in a run: null, a text, or pairs of role and content.
async function promptOf(store, problem, run) {
  return (await blockOf(store, `prompts-${Math.floor(problem / store.promptChunk)}`))[problem % store.promptChunk][run];
}

// Values after tokens: a solution is one stop of the Tab key, arrows go through its tokens, and
// the line below says what the token is worth, to people who see the colours and who do not.
const STEPS = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10, Home: -Infinity, End: Infinity };

function tellToken(block, token) {
  for (const one of block.querySelectorAll(".at")) one.classList.remove("at");
  token.classList.add("at");
  const all = block.children, place = Array.prototype.indexOf.call(all, token) + 1;
  const shown = token.textContent.replace(/\n/g, "↵") || "nothing";
  block.nextElementSibling.textContent = `${token.dataset.value} after “${shown}”, token ${place} of ${all.length}`;
}

addEventListener("keydown", (event) => {
  const block = event.target.closest(".tokens");
  if (!block || !(event.key in STEPS) || event.altKey || event.ctrlKey || event.metaKey) return;
  const all = block.children;
  let at = Array.prototype.indexOf.call(all, block.querySelector(".at"));
  at = Math.min(Math.max((at < 0 && STEPS[event.key] > 0 ? -1 : at) + STEPS[event.key], 0), all.length - 1);
  tellToken(block, all[at]);
  all[at].scrollIntoView({ block: "nearest" });
  event.preventDefault();
});

addEventListener("pointerover", (event) => {
  const token = event.target.closest && event.target.closest(".tokens > .tok");
  if (token) tellToken(token.parentElement, token);
});

// The text with the extracted answers marked: of the chosen scorer, of the other scorer,
// and those of all others.
function markedText(store, state, row, limit) {
  const block = make("div", { class: "text", dir: "ltr" });
  const text = row.text.length > limit ? row.text.slice(0, limit) : row.text;
  const spans = row.readings.filter(([start, end]) => start >= 0 && end <= text.length && end > start);
  const edges = [...new Set([0, text.length, ...spans.flatMap(([start, end]) => [start, end])])];
  edges.sort((a, b) => a - b);
  const chosen = store.marked.indexOf(store.scorers.indexOf(state.scorer)), other = store.marked.indexOf(store.scorers.indexOf(state.vs));
  for (let at = 0; at + 1 < edges.length; at++) {
    const [low, high] = [edges[at], edges[at + 1]];
    const scorers = spans.filter(([start, end]) => start <= low && high <= end).flatMap((s) => s[3]);
    if (!scorers.length) {
      appendText(block, text.slice(low, high));
      continue;
    }
    const kind = scorers.includes(chosen) && scorers.includes(other) ? "mark both"
      : scorers.includes(chosen) ? "mark chosen" : scorers.includes(other) ? "mark other" : "mark rest";
    const names = scorers.map((scorer) => store.scorers[store.marked[scorer]]).join("\n");
    block.append(textBlock("mark", { class: kind, title: names }, text.slice(low, high)));
  }
  if (row.left) {
    block.append(make("span", { class: "unseen" }, `${row.left.toLocaleString("en")} characters in the middle are left out of this file`));
  }
  return block;
}

// The extracted answers of one completion: each value with its outcome and its scorers.
function readingsTable(store, state, at, row) {
  const groups = new Map();
  const add = (value, outcome, scorer) => {
    const key = `${outcome}\n${value}`;
    if (!groups.has(key)) groups.set(key, { value, outcome, scorers: [] });
    groups.get(key).scorers.push(scorer);
  };
  const seen = new Set();
  for (const [start, end, value, scorers] of row.readings) {
    for (const marked of scorers) {
      const scorer = store.marked[marked];
      seen.add(scorer);
      add(value || row.text.slice(start, end), store.codes[scorer][at], scorer);
    }
  }
  store.scorers.forEach((_, scorer) => {
    if (!seen.has(scorer)) add("", store.codes[scorer][at], scorer);
  });
  const selected = store.scorers.indexOf(state.scorer);
  const ordered = [...groups.values()].sort((a, b) =>
    b.scorers.includes(selected) - a.scorers.includes(selected) || b.scorers.length - a.scorers.length);
  const rows = ordered.map(({ value, outcome, scorers }) => {
    const names = scorers.map((scorer) => store.scorers[scorer]);
    const read = value ? textBlock("code", {}, value)
      : make("span", { class: "faint" }, outcome === 2 ? "nothing" : outcome === 3 ? "–" : "not marked in this file");
    return make("tr", {},
      make("td", {}, make("span", { class: `pip o${outcome}`, "aria-hidden": "true" }), OUTCOMES[outcome]),
      make("td", { class: "read" }, read),
      make("td", { class: "names" }, scorers.length > 4
        ? make("details", {}, make("summary", {}, `${scorers.length} scorers`), names.join(", "))
        : names.join(", ")));
  });
  const head = make("tr", {}, ...["Outcome", "Read", "By"].map((name) => make("th", { scope: "col" }, name)));
  return make("table", { class: "readings" }, make("thead", {}, head), make("tbody", {}, ...rows));
}

// The text as the verifier's tokens, coloured by value, and a line that shows one value.
function valuedText([score, pieces, values]) {
  const block = make("div", {
    class: "tokens", dir: "ltr", tabindex: "0", role: "group",
    "aria-label": `Solution with the verifier's values, score ${score}; arrow keys show each token's value`,
  });
  pieces.forEach((piece, at) => {
    const value = (values[at] / 100).toFixed(2);
    block.append(textBlock("span", { class: `tok v${Math.round(values[at] / 10)}`, "data-value": value }, piece));
  });
  const lowest = values.indexOf(Math.min(...values));
  const told = `Value ${(values[0] / 100).toFixed(2)} at first, lowest ${(values[lowest] / 100).toFixed(2)} at token ${lowest + 1}, ${(values.at(-1) / 100).toFixed(2)} at last.`;
  return [block, make("output", { class: "value", "aria-live": "polite" }, told)];
}

function completionBlock(store, state, at, row) {
  const code = store.codes[store.scorers.indexOf(state.scorer)][at];
  const facts = [OUTCOMES[code]];
  if (store.runs.length > 1) facts.unshift(store.runs[store.run[at]]);
  facts.push(`sample ${store.sample[at]}`);
  if (store.cause[at]) facts.push(store.causes[store.cause[at] - 1]);
  if (store.flag[at]) facts.push(`the file says ${store.flag[at] === 1 ? "correct" : "wrong"}`);
  if (store.finish[at] === 1) facts.push("cut at the limit");
  if (store.finish[at] === 2) facts.push("stopped by a filter");
  if (store.tokens[at] >= 0) facts.push(`${store.tokens[at]} tokens`);
  if (row.values) facts.push(`verifier ${row.values[0].toFixed(2)}`);
  const link = make("a", { href: linkTo({ ...state, completion: at }), class: "anchor", "aria-label": "Link to this completion" }, "#");
  const head = make("h4", { class: `o${code}` }, make("span", { class: `pip o${code}`, "aria-hidden": "true" }));
  appendText(head, facts.join(" · "));
  head.append(" ", link);
  const block = make("section", { class: "completion", id: `c-${at}`, tabindex: "-1" }, head);
  if (row.error) {
    block.append(textBlock("p", { class: "text error" }, row.error));
    return block;
  }
  if (row.thinking) {
    block.append(make("details", { class: "solution" }, make("summary", {}, `Thinking, ${row.thinking.length.toLocaleString("en")} characters`),
      textBlock("div", { class: "text", dir: "ltr" }, row.thinking)));
  }
  if (row.values && state.values) {
    block.append(...valuedText(row.values), readingsTable(store, state, at, row));
    return block;
  }
  const text = markedText(store, state, row, LONG);
  block.append(text);
  if (row.text.length > LONG) {
    const whole = make("button", { type: "button", on: ["click", () => {
      text.replaceWith(markedText(store, state, row, Infinity));
      whole.remove();
    }] }, `Show all ${row.text.length.toLocaleString("en")} characters`);
    block.append(whole);
  }
  block.append(readingsTable(store, state, at, row));
  if (store.prompted[store.run[at]]) block.append(promptDetails(store, at));
  return block;
}

// The prompt of a completion, loaded when it is opened.
function promptDetails(store, at) {
  const details = make("details", { class: "solution prompt" }, make("summary", {}, "Prompt as sent"));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    const sent = await promptOf(store, store.problem[at], store.run[at]);
    if (sent === null) details.append(make("p", { class: "faint" }, "This run does not record it."));
    else if (typeof sent === "string") details.append(textBlock("div", { class: "text" }, sent));
    else {
      for (const [role, content] of sent) {
        details.append(textBlock("p", { class: "role" }, role), textBlock("div", { class: "text" }, content));
      }
      details.append(make("p", { class: "faint" }, "Chat messages; the server puts them into the model’s template."));
    }
  });
  return details;
}

// The detail of one problem: question, gold, reference solution, and matching completions.
async function showProblem(store, state, number, places, into) {
  const [id, question, gold, solution] = store.problems[number];
  const holder = make("div", {}), total = store.first[number + 1] - store.first[number];
  into.append(
    textBlock("h3", {}, `Problem ${id}`),
    textBlock("p", { class: "question" }, question || "(the file does not contain the question)"),
    make("p", { class: "gold" }, "Gold ", textBlock("strong", {}, gold)),
    solution.includes("\n") ? make("details", { class: "solution" }, make("summary", {}, "Reference solution"), textBlock("div", { class: "text" }, solution)) : "",
    make("p", { class: "faint" }, places.length === total ? plural(total, "completion") : `${places.length} of ${total} completions match the filters`),
    holder);
  const more = make("button", { type: "button", class: "more", on: ["click", () => show(MORE)] });
  let shown = 0;
  async function show(count) {
    const next = places.slice(shown, shown + count);
    const rows = await Promise.all(next.map((at) => textOf(store, at)));
    holder.append(...next.map((at, place) => completionBlock(store, state, at, rows[place])));
    shown += next.length;
    more.textContent = `Show ${Math.min(MORE, places.length - shown)} more`;
    if (shown < places.length) holder.after(more);
    else more.remove();
  }
  await show(Math.max(SHOWN, places.indexOf(state.completion) + 1));
}

// The state of the explorer is in the address, so that it can be shared: what the filters say by
// their field names, and the problem and the completion that are open.
const FILTERS = ["run", "scorer", "vs", "out", "cause", "flag", "q"];

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
  for (const name of FILTERS) if (state[name] && state[name] !== store.initial[name]) fields.set(name, state[name]);
  if (store.valued && !state.values) fields.set("values", "no");
  return `#${fields}`;
}

function stateOf(store, hash) {
  const fields = new URLSearchParams(hash.slice(1));
  const places = fields.has("problem") ? placesOf(store, fields.get("problem")) : [];
  const completion = Number(fields.get("completion") ?? NaN);
  const state = {
    problem: places[Number(fields.get("number") ?? 1) - 1] ?? null,
    completion: Number.isInteger(completion) ? completion : null, values: fields.get("values") !== "no",
  };
  for (const name of FILTERS) {
    const input = byId(`f-${name}`), value = fields.get(name) ?? "";
    const known = input && (name === "q" || [...input.options].some((option) => option.value === value));
    state[name] = known ? value : store.initial[name];
  }
  return state;
}

// Which completions match all filters except the search.
function filtered(store, state) {
  const codes = store.codes[store.scorers.indexOf(state.scorer)], others = store.codes[store.scorers.indexOf(state.vs)];
  const run = store.runs.indexOf(state.run), cause = store.causes.indexOf(state.cause) + 1;
  return Uint8Array.from(codes, (code, at) => {
    const flag = store.flag[at];
    return (!state.run || store.run[at] === run)
      && (!/^[0-3]$/.test(state.out) || code === Number(state.out))
      && (state.out !== "not" || code !== CORRECT)
      && (!others || code !== others[at])
      && (!state.cause || store.cause[at] === cause)
      && (state.flag !== "differs" || (flag > 0 && code !== ERROR && (flag === 1) !== (code === CORRECT)))
      && (!/^[12]$/.test(state.flag) || flag === Number(state.flag));
  });
}

// Keep the matches whose problem or text contains the words; load texts as needed.
async function search(store, query, matches, isCurrent, tell) {
  const words = new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  const asked = store.problems.map(([id, question, gold]) => id === query || gold === query || words.test(question));
  let started = performance.now();
  for (let start = 0; start < store.count; start += store.chunk) {
    const rows = await blockOf(store, `texts-${start / store.chunk}`);
    rows.forEach((row, place) => {
      const at = start + place;
      if (matches[at] && !asked[store.problem[at]] && !words.test(row.text)) matches[at] = 0;
    });
    if (performance.now() - started > SLICE) {
      tell(Math.min(start + store.chunk, store.count) / store.count);
      await new Promise((resolve) => setTimeout(resolve));
      if (!isCurrent()) return;
      started = performance.now();
    }
  }
}

class Explorer {
  constructor(store) {
    this.store = store;
    this.turn = 0;
    const options = (name, names) => byId(`f-${name}`).append(...names.map((each) => textBlock("option", { value: each }, each)));
    options("run", store.runs);
    options("scorer", store.scorers);
    options("vs", store.scorers);
    options("cause", store.causes);
    const unused = { run: store.runs.length === 1, flag: !store.flagged, values: !store.valued };
    for (const name in unused) if (unused[name]) byId(`f-${name}`).parentElement.remove();
    store.initial = { problem: null, completion: null, values: true };
    for (const name of FILTERS) store.initial[name] = name === "scorer" ? store.scorers[store.headline] : "";
    const filters = byId("filters"), list = byId("list");
    filters.addEventListener("input", (event) => this.changed(event));
    filters.addEventListener("submit", (event) => event.preventDefault());
    filters.addEventListener("reset", (event) => {
      event.preventDefault();
      this.go({ ...store.initial });
    });
    list.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) this.choose(Number(row.dataset.at));
    });
    addEventListener("hashchange", () => this.follow());
    filters.hidden = byId("browser").hidden = false;
  }

  changed(event) {
    const state = { ...this.state, completion: null, values: !byId("f-values") || byId("f-values").checked };
    for (const name of FILTERS) if (byId(`f-${name}`)) state[name] = byId(`f-${name}`).value.trim();
    clearTimeout(this.typing);
    if (event.target.id === "f-q") this.typing = setTimeout(() => this.go(state), 120);
    else this.go(state);
  }

  async follow() {
    if (location.hash.includes("=")) {
      await this.go(stateOf(this.store, location.hash));
      byId("explorer").scrollIntoView();
    } else openDetails();
  }

  // Go to a state: filter, search, list, and open its problem or the first one.
  async go(state) {
    const turn = ++this.turn, { store } = this;
    for (const name of FILTERS) if (byId(`f-${name}`) && byId(`f-${name}`).value.trim() !== state[name]) byId(`f-${name}`).value = state[name];
    if (byId("f-values")) byId("f-values").checked = state.values;
    const matches = filtered(store, state), codes = store.codes[store.scorers.indexOf(state.scorer)];
    if (state.q) {
      await search(store, state.q, matches, () => turn === this.turn, (share) => { byId("tally").textContent = `Searching, ${Math.round(100 * share)} %`; });
      if (turn !== this.turn) return;
    }
    this.found = []; // [problem, its matching completions]
    for (let problem = 0; problem < store.problems.length; problem++) {
      const places = [];
      for (let at = store.first[problem]; at < store.first[problem + 1]; at++) if (matches[at]) places.push(at);
      const right = places.filter((at) => codes[at] === CORRECT).length;
      if (places.length && (state.out !== "mixed" || (right > 0 && right < places.length))) this.found.push([problem, places]);
    }
    const completions = this.found.reduce((sum, [, places]) => sum + places.length, 0);
    byId("tally").textContent = completions === store.count
      ? `${plural(this.found.length, "problem")}, ${plural(completions, "completion")}`
      : `${figure(this.found.length)} of ${plural(store.problems.length, "problem")}, ${figure(completions)} of ${plural(store.count, "completion")}`;
    byId("room").replaceChildren(...this.found.map(([problem, places], at) => this.row(at, problem, places.map((place) => codes[place]))));
    const named = this.found.findIndex(([problem]) => problem === state.problem);
    this.state = { ...state, problem: this.found.length ? this.found[Math.max(named, 0)][0] : null };
    await this.open(Math.max(named, 0), named >= 0);
  }

  // A problem in the list: one pip for each completion if they are few, else a count and a bar.
  row(at, number, codes) {
    const [id, question, gold] = this.store.problems[number];
    const right = codes.filter((code) => code === CORRECT).length;
    let outcomes;
    if (codes.length <= MOST_PIPS) {
      const label = codes.length === 1 ? OUTCOMES[codes[0]] : `${right} of ${codes.length} correct`;
      outcomes = make("span", { class: "pips", role: "img", "aria-label": label }, ...codes.map((code) => make("span", { class: `pip o${code}` })));
    } else {
      const bar = make("span", { class: "share", "aria-hidden": "true" }, make("span", {}));
      bar.firstChild.style.width = `${100 * right / codes.length}%`;
      outcomes = make("span", { class: "pips" }, `${right}/${codes.length}`, bar);
    }
    return make("div", {
      role: "option", id: `row-${at}`, class: "row", "data-at": at, "aria-setsize": this.found.length, "aria-posinset": at + 1,
    }, textBlock("span", { class: "id" }, id), textBlock("span", { class: "ask" }, question.slice(0, 160)), outcomes, textBlock("span", { class: "answer" }, gold));
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (event.key === "Enter") byId("detail").focus();
    else if (event.key in steps) this.choose(this.active + steps[event.key]);
    else return;
    event.preventDefault();
  }

  choose(at) {
    if (!this.found.length) return;
    const place = Math.min(Math.max(at, 0), this.found.length - 1);
    this.state = { ...this.state, problem: this.found[place][0], completion: null };
    this.open(place, true);
  }

  // Show the problem at a place of the list; named: the address names it.
  async open(place, named) {
    const turn = ++this.turn, { state, store } = this, into = byId("detail"), row = byId(`row-${place}`);
    this.active = place;
    for (const other of document.querySelectorAll("#room [aria-selected=true]")) other.setAttribute("aria-selected", "false");
    if (row) {
      row.setAttribute("aria-selected", "true");
      byId("list").setAttribute("aria-activedescendant", row.id);
      const above = row.offsetTop - byId("list").scrollTop, below = above + row.offsetHeight - byId("list").clientHeight;
      if (above < 0 || below > 0) byId("list").scrollTop += above < 0 ? above : below;
    } else byId("list").removeAttribute("aria-activedescendant");
    const link = linkTo(named ? state : { ...state, problem: null, completion: null });
    try {
      if (link !== "#" || location.hash.includes("=")) history.replaceState(null, "", link === "#" ? location.pathname + location.search : link);
    } catch { /* browsers limit the rate, and some pages have no address: the link is optional */ }
    const fresh = make("div", {});
    if (row) await showProblem(store, state, state.problem, this.found[place][1], fresh);
    else fresh.append(make("p", { class: "faint" }, "Nothing matches these filters."));
    if (turn !== this.turn) return;
    into.replaceChildren(...fresh.childNodes);
    into.scrollTop = 0;
    const target = state.completion === null ? null : byId(`c-${state.completion}`);
    if (target) target.scrollIntoView({ block: "nearest" });
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

if (byId("problems")) openStore().then(async (store) => {
  linkTo.store = store;
  const explorer = new Explorer(store);
  await explorer.go(stateOf(store, location.hash.includes("=") ? location.hash : "#"));
  if (location.hash.includes("=")) byId("explorer").scrollIntoView();
  else openDetails();
  document.documentElement.dataset.ready = "yes";
}).catch((error) => {
  byId("tally").textContent = `The completions cannot be opened: ${error.message}`;
  throw error;
});

// `gradeschool view`: the leaderboard follows its runs; the server has written its table.
const BASE = `/${location.pathname.split("/")[1]}`;
const percent = (share) => (100 * share).toFixed(2);
const isGoing = (run) => run.answered + run.failed < run.planned;
const runLink = (names) => `${BASE}/run?${names.map((name) => `run=${encodeURIComponent(name)}`).join("&")}`;

class Board {
  constructor(table) {
    this.rows = new Map([...table.querySelectorAll("tr[data-run]")].map((row) => [row.dataset.run, row]));
    byId("runs-q").addEventListener("input", () => this.filter());
    table.addEventListener("change", () => this.compare());
    this.filter();
    this.compare();
  }

  filter() {
    const words = byId("runs-q").value.trim().toLowerCase();
    for (const row of this.rows.values()) row.hidden = !row.textContent.toLowerCase().includes(words);
  }

  compare() {
    const names = [...this.rows].filter(([, row]) => row.querySelector("input:checked")).map(([name]) => name);
    byId("compare").hidden = names.length < 2;
    byId("compare").href = runLink(names);
    byId("compare").textContent = `See the ${names.length} selected runs side by side`;
  }

  // Write new counts into the rows; for another run, or a first answer, the table is made again.
  show(runs) {
    const known = runs.every((run) => this.rows.has(run.name) && Boolean(run.answered) === Boolean(this.rows.get(run.name).querySelector("a")));
    if (!known || runs.length !== this.rows.size) return location.reload();
    for (const run of runs.filter((each) => each.answered)) {
      const row = this.rows.get(run.name), [, accuracy, interval, answered] = row.querySelectorAll("td");
      row.classList.toggle("going", isGoing(run));
      accuracy.textContent = percent(run.accuracy);
      interval.textContent = run.interval.map(percent).join(" – ");
      answered.firstChild.textContent = `${figure(run.answered)} of ${figure(run.planned)}`;
    }
  }
}

// A line at the top of a report: a link to all runs, and the progress of the shown runs.
class Line {
  constructor() {
    this.names = new URLSearchParams(location.search).getAll("run");
    this.words = make("span", { role: "status" });
    document.querySelector("header").prepend(make("p", { class: "line" }, make("a", { href: `${BASE}/` }, "All runs"), " ", this.words));
  }

  show(runs) {
    const own = runs.filter((run) => this.names.includes(run.name) && !run.error);
    const answered = own.reduce((sum, run) => sum + run.answered, 0);
    this.first ??= answered;
    const going = own.filter(isGoing).map((run) => `${run.answered} of ${run.planned} answered`);
    this.words.replaceChildren(going.join(", "), answered > this.first ? " " : "", answered > this.first ? make("a", { href: location.href, id: "reload", on: ["click", (event) => {
      event.preventDefault();
      location.reload();
    }] }, `Show ${plural(answered - this.first, "new answer")}`) : "");
  }
}

if ("live" in document.documentElement.dataset) (async () => {
  const board = byId("board"), view = board ? new Board(board) : new Line(), status = byId("status");
  for (let last = ""; ; await new Promise((resolve) => setTimeout(resolve, EVERY))) {
    try {
      const text = await (await fetch(`${BASE}/state`)).text();
      if (text !== last) view.show(JSON.parse(text));
      last = text;
      if (status) status.textContent = "";
      if (board) document.documentElement.dataset.ready = "yes";
    } catch {
      if (status) status.textContent = "The server has stopped; start gradeschool view again.";
    }
  }
})();

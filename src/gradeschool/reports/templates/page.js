"use strict";
const byId = (id) => document.getElementById(id);

// The blocks of the page: compressed, unpacked on demand, never parsed as markup.
const OUTCOMES = ["correct", "wrong", "no answer", "error"];
const FINISHES = ["stop", "length", "content filter", "unknown"];
const CORRECT = 0;

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

async function unpacked(id) {
  const element = document.getElementById(id);
  const packed = new Blob([bytesOf(element.textContent)]).stream();
  element.remove(); // opened once; its text need not stay in memory
  return new Response(packed.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function unpackedJson(id) {
  return JSON.parse(new TextDecoder().decode(await unpacked(id)));
}

// Columns of all completions, in the order of problem, run and sample; `first[p]` is where the
// completions of problem p begin.
async function openStore() {
  const facts = await unpackedJson("problems");
  const buffer = await unpacked("columns");
  const scorers = facts.scorers.length;
  const count = buffer.byteLength / (4 * 4 + 3 + scorers);
  const numbers = (at) => new Int32Array(buffer, 4 * at * count, count);
  const bytes = (at) => new Uint8Array(buffer, 16 * count + at * count, count);
  const store = {
    ...facts, count, problem: numbers(0), run: numbers(1), sample: numbers(2), tokens: numbers(3),
    finish: bytes(0), cause: bytes(1), flag: bytes(2), codes: facts.scorers.map((_, at) => bytes(3 + at)),
    first: new Int32Array(facts.problems.length + 1), chunks: new Map(), opened: new Map(), prompts: new Map(),
  };
  for (let at = 0; at < count; at++) store.first[store.problem[at] + 1]++;
  for (let at = 0; at < facts.problems.length; at++) store.first[at + 1] += store.first[at];
  return store;
}

// A chunk of texts: rows of {text, readings, left, error, thinking, values}.
function chunkOf(store, number) {
  if (!store.chunks.has(number)) {
    const opening = unpackedJson(`texts-${number}`).then((rows) => {
      store.opened.set(number, rows);
      return rows;
    });
    store.chunks.set(number, opening);
  }
  return store.chunks.get(number);
}

// The prompt of a problem in a run: null, a text, or pairs of role and content.
async function promptOf(store, problem, run) {
  const number = Math.floor(problem / store.promptChunk);
  if (!store.prompts.has(number)) store.prompts.set(number, unpackedJson(`prompts-${number}`));
  const rows = await store.prompts.get(number);
  return rows[problem % store.promptChunk][run];
}

async function textOf(store, at) {
  const rows = await chunkOf(store, Math.floor(at / store.chunk));
  return rows[at % store.chunk];
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

// Show a problem and its completions. Everything that a model wrote is a text node.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu;
const PLAIN = new Set(["\n", "\t", "\u200d"]);
const SHOWN = 10, MORE = 20, LONG = 20000;

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

// The text with the extracted answers marked: of the chosen scorer, of the other scorer,
// and those of all others.
function markedText(store, state, row, limit) {
  const block = make("div", { class: "text", dir: "ltr" });
  const text = row.text.length > limit ? row.text.slice(0, limit) : row.text;
  const spans = row.readings.filter(([start, end]) => start >= 0 && end <= text.length && end > start);
  const edges = [...new Set([0, text.length, ...spans.flatMap(([start, end]) => [start, end])])];
  edges.sort((a, b) => a - b);
  const chosen = store.marked.indexOf(state.scorer), other = store.marked.indexOf(state.vs);
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
  const ordered = [...groups.values()].sort((a, b) =>
    b.scorers.includes(state.scorer) - a.scorers.includes(state.scorer) || b.scorers.length - a.scorers.length);
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
  const code = store.codes[state.scorer][at];
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

// The page of one problem: question, gold, reference solution, and matching completions.
async function showProblem(store, state, number, matches, into) {
  const [id, question, gold, solution] = store.problems[number];
  const nodes = [
    textBlock("h3", {}, `Problem ${id}`),
    textBlock("p", { class: "question" }, question || "(the file does not contain the question)"),
    make("p", { class: "gold" }, "Gold ", textBlock("strong", {}, gold)),
  ];
  if (solution.includes("\n")) {
    nodes.push(make("details", { class: "solution" }, make("summary", {}, "Reference solution"), textBlock("div", { class: "text" }, solution)));
  }
  const places = [];
  for (let at = store.first[number]; at < store.first[number + 1]; at++) if (matches[at]) places.push(at);
  const total = store.first[number + 1] - store.first[number];
  nodes.push(make("p", { class: "faint" }, places.length === total
    ? `${total} ${total === 1 ? "completion" : "completions"}`
    : `${places.length} of ${total} completions match the filters`));
  const holder = make("div", {});
  nodes.push(holder);
  const wanted = places.indexOf(state.completion);
  let shown = 0;
  const more = make("button", { type: "button", class: "more", on: ["click", () => show(MORE)] });
  async function show(count) {
    const next = places.slice(shown, shown + count);
    const rows = await Promise.all(next.map((at) => textOf(store, at)));
    holder.append(...next.map((at, place) => completionBlock(store, state, at, rows[place])));
    shown += next.length;
    more.textContent = `Show ${Math.min(MORE, places.length - shown)} more`;
    if (shown >= places.length) more.remove();
    else holder.after(more);
  }
  await show(Math.max(SHOWN, wanted + 1));
  into.replaceChildren(...nodes);
  if (shown < places.length) into.append(more);
}

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

// Filters, search, links: the state of the explorer is in the address, so that it can be shared.
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
  if (state.flag) fields.set("flag", state.flag);
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
    cause: place(store.causes, "cause"), flag: fields.get("flag") || "", q: fields.get("q") || "", values: fields.get("values") !== "no",
  };
}

// Whether a completion's flag in its file (0: none) is the wanted one; the codes of errors never differ.
function flagMatches(wanted, flag, code) {
  if (wanted === "differs") return flag > 0 && code !== 3 && (flag === 1) !== (code === CORRECT);
  return !wanted || flag === Number(wanted);
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
      && flagMatches(state.flag, store.flag[at], code)
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
      if (matches[at] && !asked[store.problem[at]] && !words.test(rows[at - start].text)) matches[at] = 0;
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
    if (!store.flagged) byId("f-flag").parentElement.remove();
    if (!store.valued) byId("f-values").parentElement.remove();
    byId("filters").hidden = byId("browser").hidden = false;
  }

  changed(event) {
    const number = (id) => byId(id) && byId(id).value !== "" ? Number(byId(id).value) : null;
    const state = {
      ...this.state, completion: null, run: number("f-run"), scorer: number("f-scorer"), vs: number("f-vs"),
      out: byId("f-out").value, cause: number("f-cause"), flag: byId("f-flag") ? byId("f-flag").value : "", q: byId("f-q").value.trim(),
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
    write("f-flag", state.flag);
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

if (byId("problems")) openStore().then(async (store) => {
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
    byId("board").append(filters, this.table, this.compare);
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

if ("live" in document.documentElement.dataset) (async () => {
  const board = byId("board");
  const view = board ? new Board() : new Line();
  const status = byId("status");
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

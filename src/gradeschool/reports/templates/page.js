"use strict";
const byId = (id) => document.getElementById(id);
const figure = (value) => value.toLocaleString("en");
const plural = (count, noun) => `${figure(count)} ${noun}${count === 1 ? "" : "s"}`;
const OUTCOMES = ["correct", "wrong", "no answer", "error"];
const CORRECT = 0, ERROR = 3;
const FINISHES = { length: "cut at the limit", content_filter: "stopped by a filter" };
const SHOWN = 10, MORE = 20; // completions of a problem: at first, and with each click
const MOST_PIPS = 12;

// Everything that a model wrote becomes text nodes; invisible characters are shown by their number.
const INVISIBLE = /(?![\n\t\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu;

function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "on") element.addEventListener(...value);
    else element.setAttribute(name, value);
  }
  for (const child of children.flat(2)) {
    if (typeof child !== "string") {
      if (child) element.append(child);
      continue;
    }
    let done = 0;
    for (const { 0: char, index } of child.matchAll(INVISIBLE)) {
      const number = char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      element.append(child.slice(done, index), make("span", { class: "unseen" }, `U+${number}`));
      done = index + char.length;
    }
    element.append(child.slice(done));
  }
  return element;
}

// Values after tokens: a solution is one stop of the Tab key, arrows go through its tokens, and
// the line below says what the token is worth, to people who see the colours and who do not.
const STEPS = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10, Home: -Infinity, End: Infinity };

function describeToken(block, at) {
  const token = block.children[at], shown = token.textContent.replace(/\n/g, "↵") || "nothing";
  for (const one of block.querySelectorAll(".at")) one.classList.remove("at");
  token.classList.add("at");
  block.nextElementSibling.textContent = `${token.dataset.value} after “${shown}”, token ${at + 1} of ${block.children.length}`;
}

const placeOf = (block, token) => Array.prototype.indexOf.call(block.children, token);

addEventListener("keydown", (event) => {
  const block = event.target.closest(".tokens"), step = STEPS[event.key];
  if (!block || !step || event.altKey || event.ctrlKey || event.metaKey) return;
  const at = Math.min(Math.max(placeOf(block, block.querySelector(".at")) + step, 0), block.children.length - 1);
  describeToken(block, at);
  block.children[at].scrollIntoView({ block: "nearest" });
  event.preventDefault();
});

addEventListener("pointerover", (event) => {
  const token = event.target.closest && event.target.closest(".tokens > .tok");
  if (token) describeToken(token.parentElement, placeOf(token.parentElement, token));
});

// The data of a report: blocks of JSON, compressed, unpacked on demand, never parsed as markup.
// `store` has the columns of all completions in the order of problem, run and sample; `first[p]`
// is where the completions of problem p begin.
let store;
const blocks = new Map();

async function unpack(id) {
  const element = byId(id), binary = atob(element.textContent);
  element.remove(); // opened once; its text need not stay in memory
  const stream = new Blob([Uint8Array.from(binary, (char) => char.charCodeAt(0))]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("gzip"))).json();
}

function blockOf(kind, number) {
  const id = `${kind}-${number}`;
  if (!blocks.has(id)) blocks.set(id, unpack(id));
  return blocks.get(id);
}

// A completion's row: {text, readings, error, thinking, values}.
async function textOf(at) {
  return (await blockOf("texts", Math.floor(at / store.chunk)))[at % store.chunk];
}

async function openStore() {
  store = await unpack("data");
  store.codes = store.codes.map((column) => Uint8Array.from(column, Number)); // a string of digits
  store.count = store.problem.length;
  store.first = new Int32Array(store.problems.length + 1);
  for (const problem of store.problem) store.first[problem + 1]++;
  store.problems.forEach((_, at) => { store.first[at + 1] += store.first[at]; });
  store.initial = { problem: null, completion: null, values: true, run: "", scorer: store.scorers[0], vs: "", out: "", cause: "", flag: "", q: "" };
}

// The text with the extracted answers marked: of the chosen scorer, of the other scorer,
// and those of all others.
function markedText(state, row) {
  const points = [...row.text]; // positions count characters, not the units of JavaScript
  const spans = row.readings.filter(([start, end]) => start >= 0 && end > start);
  const edges = [...new Set([0, points.length, ...spans.flatMap(([start, end]) => [start, end])])].sort((a, b) => a - b);
  const parts = edges.slice(1).map((high, at) => {
    const low = edges[at], text = points.slice(low, high).join("");
    const names = spans.filter(([start, end]) => start <= low && high <= end).flatMap((span) => span[3].map((place) => store.scorers[place]));
    if (!names.length) return text;
    const kind = names.includes(state.scorer) ? (names.includes(state.vs) ? "both" : "chosen") : (names.includes(state.vs) ? "other" : "rest");
    return make("mark", { class: `mark ${kind}`, title: names.join("\n") }, text);
  });
  return make("div", { class: "text", dir: "ltr" }, parts);
}

// The extracted answers of one completion: each value with its outcome and its scorers.
function readingsTable(state, at, row) {
  const values = new Map(row.readings.flatMap(([, , value, scorers]) => scorers.map((scorer) => [scorer, value])));
  const groups = new Map();
  store.scorers.forEach((name, scorer) => {
    const outcome = store.codes[scorer][at], value = values.get(scorer) ?? "", key = `${outcome}\n${value}`;
    if (!groups.has(key)) groups.set(key, { value, outcome, names: [] });
    groups.get(key).names.push(name);
  });
  const ordered = [...groups.values()].sort((a, b) =>
    b.names.includes(state.scorer) - a.names.includes(state.scorer) || b.names.length - a.names.length);
  const rows = ordered.map(({ value, outcome, names }) => make("tr", {},
    make("td", {}, make("span", { class: `pip o${outcome}`, "aria-hidden": "true" }), OUTCOMES[outcome]),
    make("td", { class: "read" }, value ? make("code", {}, value)
      : make("span", { class: "faint" }, outcome === 2 ? "nothing" : outcome === ERROR ? "–" : "not marked in this file")),
    make("td", { class: "names" }, names.length > 4
      ? make("details", {}, make("summary", {}, `${names.length} scorers`), names.join(", "))
      : names.join(", "))));
  const head = make("tr", {}, ["Outcome", "Read", "By"].map((name) => make("th", { scope: "col" }, name)));
  return make("table", { class: "readings" }, make("thead", {}, head), make("tbody", {}, rows));
}

// The text as the verifier's tokens, coloured by value, and a line that shows one value.
function valuedText([score, pieces, values]) {
  const shown = (at) => (values[at] / 100).toFixed(2);
  const tokens = pieces.map((piece, at) => make("span", { class: `tok v${Math.round(values[at] / 10)}`, "data-value": shown(at) }, piece));
  const label = `Solution with the verifier's values, score ${score}; arrow keys show each token's value`;
  const lowest = values.indexOf(Math.min(...values)), last = values.length - 1;
  return [
    make("div", { class: "tokens", dir: "ltr", tabindex: "0", role: "group", "aria-label": label }, tokens),
    make("output", { class: "value", "aria-live": "polite" }, `Value ${shown(0)} at first, lowest ${shown(lowest)} at token ${lowest + 1}, ${shown(last)} at last.`),
  ];
}

// The prompt of a completion, loaded when it is opened: null, a text, or pairs of role and content.
function promptDetails(at) {
  const details = make("details", { class: "solution prompt" }, make("summary", {}, "Prompt as sent"));
  details.addEventListener("toggle", async () => {
    const problem = store.problem[at], prompts = await blockOf("prompts", Math.floor(problem / store.promptChunk));
    if (details.childElementCount > 1) return;
    const sent = prompts[problem % store.promptChunk][store.run[at]];
    const text = (content) => make("div", { class: "text" }, content);
    if (sent === null) details.append(make("p", { class: "faint" }, "This run does not record it."));
    else if (typeof sent === "string") details.append(text(sent));
    else {
      details.append(...sent.flatMap(([role, content]) => [make("p", { class: "role" }, role), text(content)]),
        make("p", { class: "faint" }, "Chat messages; the server puts them into the model’s template."));
    }
  });
  return details;
}

function completionBlock(state, at, row) {
  const code = store.codes[store.scorers.indexOf(state.scorer)][at];
  const facts = [
    store.runs.length > 1 && store.runs[store.run[at]],
    OUTCOMES[code],
    `sample ${store.sample[at]}`,
    store.cause[at],
    store.flag[at] !== null && `the file says ${store.flag[at] ? "correct" : "wrong"}`,
    FINISHES[store.finish[at]],
    store.tokens[at] !== null && `${store.tokens[at]} tokens`,
    row.values && `verifier ${row.values[0].toFixed(2)}`,
  ].filter(Boolean);
  const head = make("h4", { class: `o${code}` },
    make("span", { class: `pip o${code}`, "aria-hidden": "true" }), facts.join(" · "), " ",
    make("a", { href: linkTo({ ...state, completion: at }), class: "anchor", "aria-label": "Link to this completion" }, "#"));
  const thinking = row.thinking && make("details", { class: "solution" },
    make("summary", {}, `Thinking, ${figure(row.thinking.length)} characters`),
    make("div", { class: "text", dir: "ltr" }, row.thinking));
  const body = row.error ? make("p", { class: "text error" }, row.error) : [
    thinking,
    row.values && state.values ? valuedText(row.values) : markedText(state, row),
    readingsTable(state, at, row),
    store.prompted[store.run[at]] && promptDetails(at),
  ];
  return make("section", { class: "completion", id: `c-${at}`, tabindex: "-1" }, head, body);
}

// The detail of one problem: question, gold, reference solution, and matching completions.
async function problemDetail(state, places) {
  const [id, question, gold, solution] = store.problems[state.problem];
  const total = store.first[state.problem + 1] - store.first[state.problem];
  const holder = make("div", {}), more = make("button", { type: "button", class: "more", on: ["click", () => show(MORE)] });
  let shown = 0;
  async function show(count) {
    const next = places.slice(shown, shown + count), rows = await Promise.all(next.map(textOf));
    holder.append(...next.map((at, place) => completionBlock(state, at, rows[place])));
    shown += next.length;
    more.textContent = `Show ${Math.min(MORE, places.length - shown)} more`;
    more.hidden = shown >= places.length;
  }
  await show(Math.max(SHOWN, places.indexOf(state.completion) + 1));
  return [
    make("h3", {}, `Problem ${id}`),
    make("p", { class: "question" }, question || "(the file does not contain the question)"),
    make("p", { class: "gold" }, "Gold ", make("strong", {}, gold)),
    solution.includes("\n") ? make("details", { class: "solution" }, make("summary", {}, "Reference solution"), make("div", { class: "text" }, solution)) : "",
    make("p", { class: "faint" }, places.length === total ? plural(total, "completion") : `${places.length} of ${total} completions match the filters`),
    holder, more,
  ];
}

// The state of the explorer is in the address, so that it can be shared: what the filters say by
// their field names, and the problem and the completion that are open.
const FILTERS = ["run", "scorer", "vs", "out", "cause", "flag", "q"];

function linkTo(state) {
  const fields = new URLSearchParams();
  if (state.problem !== null) fields.set("problem", store.problems[state.problem][0]);
  if (state.completion !== null) fields.set("completion", state.completion);
  for (const name of FILTERS) if (state[name] !== store.initial[name]) fields.set(name, state[name]);
  if (!state.values) fields.set("values", "no");
  return `#${fields}`;
}

function stateOf(hash) {
  const fields = new URLSearchParams(hash.slice(1)), state = { ...store.initial, values: fields.get("values") !== "no" };
  const problem = store.problems.findIndex(([id]) => id === fields.get("problem")), completion = Number(fields.get("completion") ?? NaN);
  if (Number.isInteger(completion) && completion in store.problem) state.completion = completion;
  // Of problems with the same id, from two datasets, that of the completion.
  if (problem >= 0) state.problem = state.completion === null ? problem : store.problem[state.completion];
  for (const name of FILTERS) {
    const input = byId(`f-${name}`), value = fields.get(name) ?? "";
    if (value && input && (name === "q" || [...input.options].some((option) => option.value === value))) state[name] = value;
  }
  return state;
}

// Which completions match all filters except the search.
function filtered(state) {
  const codes = store.codes[store.scorers.indexOf(state.scorer)], others = store.codes[store.scorers.indexOf(state.vs)];
  const run = store.runs.indexOf(state.run);
  return Uint8Array.from(codes, (code, at) => {
    const flag = store.flag[at];
    return (run < 0 || store.run[at] === run)
      && (!/^[0-3]$/.test(state.out) || code === Number(state.out))
      && (state.out !== "not" || code !== CORRECT)
      && (!others || code !== others[at])
      && (!state.cause || store.cause[at] === state.cause)
      && (state.flag !== "differs" || (flag !== null && code !== ERROR && flag !== (code === CORRECT)))
      && (!["true", "false"].includes(state.flag) || String(flag) === state.flag);
  });
}

// Keep the matches whose problem or text contains the words; load texts as needed.
async function search(query, matches, tell) {
  const words = new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  const asked = store.problems.map(([id, question, gold]) => id === query || gold === query || words.test(question));
  for (let start = 0; start < store.count; start += store.chunk) {
    const rows = await blockOf("texts", start / store.chunk);
    rows.forEach((row, place) => {
      const at = start + place;
      if (matches[at] && !asked[store.problem[at]] && !words.test(row.text)) matches[at] = 0;
    });
    await new Promise((resolve) => setTimeout(resolve)); // the page may breathe
    if (!tell(Math.min(start + store.chunk, store.count) / store.count)) return;
  }
}

// A problem in the list: one pip for each completion if they are few, else a count and a bar.
function listRow(at, size, number, codes) {
  const [id, question, gold] = store.problems[number], right = codes.filter((code) => code === CORRECT).length;
  const label = codes.length === 1 ? OUTCOMES[codes[0]] : `${right} of ${codes.length} correct`;
  const bar = make("span", { class: "share", "aria-hidden": "true" }, make("span", {}));
  bar.firstChild.style.width = `${100 * right / codes.length}%`;
  const outcomes = codes.length <= MOST_PIPS
    ? make("span", { class: "pips", role: "img", "aria-label": label }, codes.map((code) => make("span", { class: `pip o${code}` })))
    : make("span", { class: "pips" }, `${right}/${codes.length}`, bar);
  return make("div", { role: "option", id: `row-${at}`, class: "row", "data-at": at, "aria-setsize": size, "aria-posinset": at + 1 },
    make("span", { class: "id" }, id), make("span", { class: "ask" }, question.slice(0, 160)), outcomes, make("span", { class: "answer" }, gold));
}

function openExplorer() {
  const inputs = FILTERS.map((name) => [name, byId(`f-${name}`)]), list = byId("list"), values = byId("f-values");
  let state, found = [], active = 0, turn = 0, typing; // found: [problem, its matching completions]

  // Filter, search, fill the list, and open the problem of the state or the first one.
  async function go(next) {
    const mine = ++turn, matches = filtered(next), codes = store.codes[store.scorers.indexOf(next.scorer)];
    for (const [name, input] of inputs) if (input.value.trim() !== next[name]) input.value = next[name];
    values.checked = next.values;
    if (next.q) {
      await search(next.q, matches, (share) => {
        if (turn === mine) byId("tally").textContent = `Searching, ${Math.round(100 * share)} %`;
        return turn === mine;
      });
      if (turn !== mine) return;
    }
    found = [];
    for (let problem = 0; problem < store.problems.length; problem++) {
      const places = [];
      for (let at = store.first[problem]; at < store.first[problem + 1]; at++) if (matches[at]) places.push(at);
      const right = places.filter((at) => codes[at] === CORRECT).length;
      if (places.length && (next.out !== "mixed" || (right > 0 && right < places.length))) found.push([problem, places]);
    }
    const completions = found.reduce((sum, [, places]) => sum + places.length, 0);
    byId("tally").textContent = completions === store.count
      ? `${plural(found.length, "problem")}, ${plural(completions, "completion")}`
      : `${figure(found.length)} of ${plural(store.problems.length, "problem")}, ${figure(completions)} of ${plural(store.count, "completion")}`;
    byId("room").replaceChildren(...found.map(([problem, places], at) => listRow(at, found.length, problem, places.map((place) => codes[place]))));
    const named = found.findIndex(([problem]) => problem === next.problem);
    state = next;
    await open(Math.max(named, 0), named >= 0);
  }

  // Show the problem at a place of the list; named: the address names it.
  async function open(place, named) {
    const mine = ++turn, row = byId(`row-${place}`), into = byId("detail");
    active = place;
    state = { ...state, problem: row ? found[place][0] : null };
    for (const other of document.querySelectorAll("#room [aria-selected=true]")) other.setAttribute("aria-selected", "false");
    if (row) {
      row.setAttribute("aria-selected", "true");
      list.setAttribute("aria-activedescendant", row.id);
      const above = row.offsetTop - list.scrollTop, below = above + row.offsetHeight - list.clientHeight;
      if (above < 0 || below > 0) list.scrollTop += above < 0 ? above : below;
    } else list.removeAttribute("aria-activedescendant");
    const link = linkTo(named ? state : { ...state, problem: null, completion: null });
    try {
      if (link !== "#" || location.hash.includes("=")) history.replaceState(null, "", link === "#" ? location.pathname + location.search : link);
    } catch { /* browsers limit the rate, and some pages have no address: the link is optional */ }
    const fresh = row ? await problemDetail(state, found[place][1]) : [make("p", { class: "faint" }, "Nothing matches these filters.")];
    if (turn !== mine) return;
    into.replaceChildren(...fresh);
    into.scrollTop = 0;
    const target = byId(`c-${state.completion}`);
    if (target) target.scrollIntoView({ block: "nearest" });
  }

  function choose(at) {
    if (!found.length) return;
    state = { ...state, completion: null };
    open(Math.min(Math.max(at, 0), found.length - 1), true);
  }

  async function follow() {
    const isState = location.hash.includes("=");
    if (isState || !state) await go(stateOf(isState ? location.hash : "#"));
    if (isState) byId("explorer").scrollIntoView();
    else openRun();
  }

  for (const [name, options] of Object.entries({ run: store.runs, scorer: store.scorers, vs: store.scorers, cause: store.named })) {
    byId(`f-${name}`).append(...options.map((each) => make("option", { value: each }, each)));
  }
  byId("f-run").parentElement.hidden = store.runs.length === 1;
  byId("f-flag").parentElement.hidden = store.flag.every((flag) => flag === null);
  values.parentElement.hidden = !store.valued;
  const filters = byId("filters");
  filters.addEventListener("input", (event) => {
    const next = { ...state, completion: null, values: values.checked };
    for (const [name, input] of inputs) next[name] = input.value.trim();
    clearTimeout(typing);
    if (event.target.id === "f-q") typing = setTimeout(() => go(next), 120);
    else go(next);
  });
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", (event) => {
    event.preventDefault();
    go(store.initial);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Enter") byId("detail").focus();
    else if (step) choose(active + step);
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", (event) => {
    const row = event.target.closest("[role=option]");
    if (row) choose(Number(row.dataset.at));
  });
  addEventListener("hashchange", follow);
  filters.hidden = byId("browser").hidden = false;
  return follow();
}

// Open the run that the address names, on a page of several.
function openRun() {
  const target = location.hash.length > 1 && byId(decodeURIComponent(location.hash.slice(1)));
  const closed = target && target.closest("details.run");
  if (!closed) return;
  closed.open = true;
  target.scrollIntoView();
}

addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details.run")) one.open = true;
});

if (byId("data")) openStore().then(openExplorer).then(() => { document.documentElement.dataset.ready = "yes"; }, (error) => {
  byId("tally").textContent = `The completions cannot be opened: ${error.message}`;
  throw error;
});

// The leaderboard of `gradeschool view`: a filter, and a link to the selected runs side by side.
if (byId("board")) {
  const rows = [...document.querySelectorAll("#board tr[data-run]")], words = byId("runs-q"), link = byId("compare");
  const filter = () => {
    const query = words.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(query);
  };
  const select = () => {
    const names = rows.filter((row) => row.querySelector("input:checked")).map((row) => row.dataset.run);
    link.hidden = names.length < 2;
    link.href = `run?${new URLSearchParams(names.map((name) => ["run", name]))}`;
    link.textContent = `See the ${names.length} selected runs side by side`;
  };
  words.addEventListener("input", filter);
  byId("board").addEventListener("change", select);
  filter();
  select();
  document.documentElement.dataset.ready = "yes";
}

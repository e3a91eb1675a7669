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
  const text = row[0].length > limit ? row[0].slice(0, limit) : row[0];
  const spans = row[1].filter(([start, end]) => start >= 0 && end <= text.length && end > start);
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
  if (row[2]) {
    block.append(make("span", { class: "unseen" }, `${row[2].toLocaleString("en")} characters in the middle are left out of this file`));
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
  for (const [start, end, value, scorers] of row[1]) {
    for (const marked of scorers) {
      const scorer = store.marked[marked];
      seen.add(scorer);
      add(value || row[0].slice(start, end), store.codes[scorer][at], scorer);
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
  if (store.finish[at] === 1) facts.push("cut at the limit");
  if (store.finish[at] === 2) facts.push("stopped by a filter");
  if (store.tokens[at] >= 0) facts.push(`${store.tokens[at]} tokens`);
  if (row[4]) facts.push(`verifier ${row[4][0].toFixed(2)}`);
  const link = make("a", { href: linkTo({ ...state, completion: at }), class: "anchor", "aria-label": "Link to this completion" }, "#");
  const head = make("h4", { class: `o${code}` }, make("span", { class: `pip o${code}`, "aria-hidden": "true" }));
  appendText(head, facts.join(" · "));
  head.append(" ", link);
  const block = make("section", { class: "completion", id: `c-${at}`, tabindex: "-1" }, head);
  if (row[3]) {
    block.append(textBlock("p", { class: "text error" }, row[3]));
    return block;
  }
  if (row[4] && state.values) {
    block.append(...valuedText(row[4]), readingsTable(store, state, at, row));
    return block;
  }
  const text = markedText(store, state, row, LONG);
  block.append(text);
  if (row[0].length > LONG) {
    const whole = make("button", { type: "button", on: ["click", () => {
      text.replaceWith(markedText(store, state, row, Infinity));
      whole.remove();
    }] }, `Show all ${row[0].length.toLocaleString("en")} characters`);
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

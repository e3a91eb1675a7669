"use strict";
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
  const count = buffer.byteLength / (4 * 4 + 2 + scorers);
  const numbers = (at) => new Int32Array(buffer, 4 * at * count, count);
  const bytes = (at) => new Uint8Array(buffer, 16 * count + at * count, count);
  const store = {
    ...facts, count, problem: numbers(0), run: numbers(1), sample: numbers(2), tokens: numbers(3),
    finish: bytes(0), cause: bytes(1), codes: facts.scorers.map((_, at) => bytes(2 + at)),
    first: new Int32Array(facts.problems.length + 1), chunks: new Map(), opened: new Map(), prompts: new Map(),
  };
  for (let at = 0; at < count; at++) store.first[store.problem[at] + 1]++;
  for (let at = 0; at < facts.problems.length; at++) store.first[at + 1] += store.first[at];
  return store;
}

// A chunk of texts: rows of [text, readings, characters left out, error].
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

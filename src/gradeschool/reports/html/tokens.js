"use strict";
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

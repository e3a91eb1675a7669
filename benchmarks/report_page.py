"""Measure how fast a report opens and responds in a browser: `python benchmarks/report_page.py`.

Writes pages of 1,319 problems with 1 and with 100 samples from the recorded completions under
GRADESCHOOL_DATA, opens each in the system's chromium, and prints: seconds to write, size, seconds
from opening to the list (median of several), milliseconds from a choice to the new list for each
filter, milliseconds of a search, console messages and network requests.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

FILTERS = (("#f-out", "not"), ("#f-out", "2"), ("#f-out", "mixed"), ("#f-out", ""))
WORDS = ("apples and", "zebra", "12")
# The time from an event to the resulting state of the list, measured in the page.
LATENCY = """async ([selector, value]) => {
  const field = document.querySelector(selector), tally = document.getElementById("tally");
  const started = performance.now();
  const done = new Promise((resolve) => {
    const seen = new MutationObserver(() => {
      if (tally.textContent.startsWith("Searching")) return;
      seen.disconnect();
      resolve(performance.now() - started);
    });
    seen.observe(tally, { childList: true, characterData: true, subtree: true });
  });
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  return done;
}"""


def recorded(folder: Path, samples: int, path: Path) -> None:
    """Write a run with `samples` completions per problem, drawn from all recorded ones."""
    pools = defaultdict(list)
    for file in sorted((folder / "completions").glob("*.jsonl")):
        for line in file.read_bytes().split(b"\n"):
            if line:
                row = json.loads(line)
                pools[row["index"]].append(row["completion"])
    source = random.Random(7)
    with path.open("w") as out:
        for index, pool in sorted(pools.items()):
            for sample in range(samples):
                text = source.choice(pool)
                out.write(json.dumps({"index": index, "sample": sample, "completion": text}) + "\n")


def open_once(browser: Any, page_file: Path) -> tuple[float, Any, list[str], list[str]]:
    context = browser.new_context()
    page = context.new_page()
    logged: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: logged.append(message.text))
    page.on("pageerror", lambda error: logged.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    started = time.monotonic()
    page.goto(page_file.as_uri())
    page.wait_for_selector("html[data-ready]", timeout=120_000)
    return time.monotonic() - started, page, logged, requests


def measure(browser: Any, page_file: Path, times: int) -> None:
    seconds = []
    for _ in range(times):
        seconds_each, page, logged, requests = open_once(browser, page_file)
        seconds.append(seconds_each)
    print(f"  opens in {statistics.median(seconds):.2f} s (of {times}: {max(seconds):.2f} at most)")
    for selector, value in FILTERS:
        taken_ms = [page.evaluate(LATENCY, [selector, value]) for _ in range(3)]
        print(f"  {statistics.median(taken_ms):6.1f} ms  filter {selector} = {value!r}")
    for word in WORDS:
        seconds_each = page.evaluate(LATENCY, ["#f-q", word])
        print(f"  {seconds_each:6.1f} ms  search {word!r}, 120 of them waiting for the next key")
    print(f"  {page.locator('*').count()} elements")
    print(f"  logged: {logged or 'nothing'}; asked: {len(requests)} ({page_file.name} itself)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, nargs="*", default=[1, 100])
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    data = Path(os.environ["GRADESCHOOL_DATA"])
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    script = Path(sys.executable).with_name("gradeschool")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable)
        for samples in options.samples:
            answers, page_file = Path(folder) / f"{samples}.jsonl", Path(folder) / f"{samples}.html"
            recorded(data, samples, answers)
            before = os.times()
            subprocess.run([script, "report", answers, "-o", page_file], check=True)
            spent = os.times()
            cpu = spent.children_user + spent.children_system
            cpu -= before.children_user + before.children_system
            print(f"  written in {cpu:.1f} s of CPU")
            measure(browser, page_file, options.times)
        browser.close()


if __name__ == "__main__":
    main()

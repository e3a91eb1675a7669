"""Refuse a GGUF file whose chat template could hang or exhaust the process that renders it.

llama.cpp renders the template in this process, when it loads the file and for each chat. It is
therefore rendered first in a child process, with limits on time and memory, for chats such as
llama.cpp's checks and a run have. What could make the work grow beyond these chats is refused
unseen: ranges, recursive loops and macros, and loops in more than DEEPEST loops.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from pathlib import Path

from gradeschool.errors import InputError

LONGEST = 2**17  # characters
DEEPEST = 5  # loops in loops
SECONDS, MEGABYTES = 10, 512
SWITCH = re.compile(r"\b(?:enable_)?thinking\b(?!\s*[>|\]])")  # no tag <thinking>
# Checks and renders the template from stdin.
RENDER = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
resource.setrlimit(resource.RLIMIT_AS, ({bytes}, {bytes}))
from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
names = ["jinja2.ext.do", "jinja2.ext.loopcontrols"]
environment = ImmutableSandboxedEnvironment(extensions=names, trim_blocks=True, lstrip_blocks=True)
try:
    tree = environment.parse(sys.stdin.read())
except TemplateError as error:
    sys.exit(f"it cannot be read: {{error}}")
def deepest(node):
    inner = max(map(deepest, node.iter_child_nodes()), default=0)
    return inner + isinstance(node, nodes.For)
names = {{name.name for name in tree.find_all(nodes.Name) if name.ctx == "load"}}
if "range" in names:
    sys.exit("it has a range")
if any(loop.recursive for loop in tree.find_all(nodes.For)):
    sys.exit("it has a recursive loop")
if deepest(tree) > {deepest}:
    sys.exit("it has more than {deepest} loops in loops")
left = {{macro.name: {{call.node.name for call in macro.find_all(nodes.Call)
                    if isinstance(call.node, nodes.Name)}} for macro in tree.find_all(nodes.Macro)}}
while done := [name for name, called in left.items() if not called & left.keys()]:
    left = {{name: left[name] for name in left if name not in done}}
if left:
    sys.exit(f"its macro {{next(iter(left))}} calls itself")
def refuse(message=""):
    raise TemplateError(str(message))
template = environment.from_string(tree)
user, assistant = ({{"role": role, "content": "Why? " * 400}} for role in ("user", "assistant"))
system = {{"role": "system", "content": "Think."}}
for messages in ([user], [system, user], [user, assistant] * 8 + [user]):
    try:
        whole = template.render(
            messages=messages, add_generation_prompt=True, bos_token="<s>", eos_token="</s>",
            tools=None, raise_exception=refuse, strftime_now=lambda form: "2026",
        )
    except (TemplateError, TypeError, ValueError, AttributeError, LookupError):
        continue  # the template refuses such messages
    if len(whole) > 100 * sum(len(turn["content"]) for turn in messages) + 100_000:
        sys.exit("it writes far more than its messages")
"""
# Types of GGUF's header: bytes of the numbers, and those without a fixed size.
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
TEXT, ARRAY = 8, 9


def check_template(file: Path) -> None:
    """Raise InputError if the chat template of a GGUF file could hang or exhaust a process.

    A file without a template, and one that cannot be read as GGUF, is left to llama.cpp.
    """
    template = template_in(file)
    if template is None:
        return
    reason = f"it has {len(template):,} characters" if len(template) > LONGEST else ""
    if not reason:
        limits = f"it takes more than {SECONDS} s or {MEGABYTES} MB"
        code = RENDER.format(seconds=SECONDS, bytes=MEGABYTES * 2**20, deepest=DEEPEST)
        try:
            ended = subprocess.run(  # noqa: S603  (our own code)
                [sys.executable, "-I", "-c", code], input=template, capture_output=True, text=True,
                timeout=2 * SECONDS, check=False, errors="replace",
            )  # fmt: skip
            last = (ended.stderr.strip().splitlines() or [limits])[-1]
            if ended.returncode:
                over = "MemoryError" in last or ended.returncode < 0
                reason = limits if over else last[:200]
        except subprocess.TimeoutExpired:
            reason = limits
    if reason:
        raise InputError(
            f"the chat template of {str(file)!r} is not rendered: {reason}; use a file with "
            "another template"
        )


def check_thinking(template: str | None, model: str) -> None:
    """Raise InputError if a chat template does not ask whether the model may think.

    Templates ignore arguments that they do not know, so that the option would change nothing.
    """
    if SWITCH.search(template or "") is None:
        raise InputError(
            f"the chat template of {model!r} has no switch for thinking (enable_thinking); leave "
            "--thinking out"
        )


def template_in(file: Path) -> str | None:
    """Return the chat template in the header of a GGUF file, None if there is none."""
    with file.open("rb") as header:

        def number(form: str) -> int:
            return int(struct.unpack(f"<{form}", header.read(struct.calcsize(form)))[0])

        def skip(kind: int, values: int = 1) -> None:
            """Skip values of a type, each of a fixed size or after its number of bytes."""
            if kind in SIZES:
                header.seek(SIZES[kind] * values, 1)
                return
            for _ in range(values):
                if kind == ARRAY:
                    skip(number("I"), number("Q"))
                else:
                    header.seek(number("Q"), 1)

        try:
            if header.read(4) != b"GGUF":
                return None
            header.seek(12, 1)  # the version, the number of tensors
            for _ in range(number("Q")):
                length = number("Q")
                name = header.read(min(length, LONGEST))
                header.seek(length - len(name), 1)
                kind = number("I")
                if name == b"tokenizer.chat_template" and kind == TEXT:
                    return header.read(min(number("Q"), 8 * LONGEST)).decode("utf-8", "replace")
                skip(kind)
        except (struct.error, KeyError, RecursionError, OSError, OverflowError, ValueError):
            return None
    return None

"""Refuse a GGUF file whose chat template could hang or exhaust the process that renders it.

llama.cpp renders the template in this process, when it loads the file and for each chat. The
template is therefore first read here: ranges, recursive macros and deep loops are
refused. Then it is rendered in a child process with limits on time and memory.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from gradeschool.errors import InputError

LONGEST = 2**17  # characters
DEEPEST = 5  # loops in loops
SECONDS, MEGABYTES = 10, 512
SWITCH = re.compile(r"\b(?:enable_)?thinking\b(?!\s*[>|\]])")  # no tag <thinking>
# Renders the template from stdin; the messages are those of llama.cpp's checks and of a run.
RENDER = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
resource.setrlimit(resource.RLIMIT_AS, ({bytes}, {bytes}))
from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
text = sys.stdin.read()
names = ["jinja2.ext.do", "jinja2.ext.loopcontrols"]
environment = ImmutableSandboxedEnvironment(extensions=names, trim_blocks=True, lstrip_blocks=True)
def deepest(node):
    inner = max(map(deepest, node.iter_child_nodes()), default=0)
    return inner + isinstance(node, nodes.For)
def called(node):
    return {{call.node.name for call in node.find_all(nodes.Call)
             if isinstance(call.node, nodes.Name)}}
try:
    tree = environment.parse(text)
except TemplateError as error:
    sys.exit(f"it cannot be read: {{error}}")
if "range" in called(tree):
    sys.exit("it has a range")
if any(loop.recursive for loop in tree.find_all(nodes.For)):
    sys.exit("it has a recursive loop")
if deepest(tree) > {deepest}:
    sys.exit("it has more than {deepest} loops in loops")
macros = {{macro.name: called(macro) for macro in tree.find_all(nodes.Macro)}}
for name in macros:
    reached, more = set(), set(macros[name])
    while more:
        reached |= more
        more = set().union(*(macros.get(each, set()) for each in more)) - reached
    if name in reached:
        sys.exit(f"its macro {{name}} calls itself")
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


def check_template(file: Path) -> None:
    """Raise InputError if the chat template of a GGUF file could hang or exhaust a process.

    A file without a template, and one that cannot be read as GGUF, is left to llama.cpp.
    """
    template = template_in(file)
    if template is None:
        return
    if len(template) > LONGEST:
        raise _refused(file, f"it has {len(template):,} characters")
    limits = f"it takes more than {SECONDS} s or {MEGABYTES} MB"
    code = RENDER.format(seconds=SECONDS, bytes=MEGABYTES * 2**20, deepest=DEEPEST)
    try:
        ended = subprocess.run(  # noqa: S603  (our own code)
            [sys.executable, "-I", "-c", code], input=template, capture_output=True, text=True,
            timeout=2 * SECONDS, check=False, errors="replace",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise _refused(file, limits) from None
    if ended.returncode:
        last = (ended.stderr.strip().splitlines() or [limits])[-1]
        over = "MemoryError" in last or ended.returncode < 0
        raise _refused(file, limits if over else last[:200])


def check_thinking(template: str | None, model: str) -> None:
    """Raise InputError if a chat template does not ask whether the model may think.

    Templates ignore arguments that they do not know, so that the option would change nothing.
    """
    if SWITCH.search(template or "") is None:
        raise InputError(
            f"the chat template of {model!r} has no switch for thinking (enable_thinking); leave "
            "--thinking out"
        )


def _refused(file: Path, reason: str) -> InputError:
    return InputError(
        f"the chat template of {str(file)!r} is not rendered: {reason}; use a file with another "
        "template"
    )


def template_in(file: Path) -> str | None:
    """Return the chat template in the header of a GGUF file, None if there is none."""
    import struct

    fixed = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
    text, array = 8, 9
    with file.open("rb") as header:

        def number(form: str) -> int:
            return int(struct.unpack(f"<{form}", header.read(struct.calcsize(form)))[0])

        def skip(kind: int) -> None:
            if kind == array:
                inner, count = number("I"), number("Q")
                if inner in fixed:
                    header.seek(fixed[inner] * count, 1)
                    return
                for _ in range(count):
                    skip(inner)
            else:
                header.seek(number("Q") if kind == text else fixed[kind], 1)

        try:
            if header.read(4) != b"GGUF":
                return None
            number("I"), number("Q")  # the version, the number of tensors
            for _ in range(number("Q")):
                name, kind = header.read(number("Q")), number("I")
                if name == b"tokenizer.chat_template" and kind == text:
                    return header.read(min(number("Q"), 8 * LONGEST)).decode("utf-8", "replace")
                skip(kind)
        except (struct.error, KeyError, RecursionError, OSError, OverflowError):
            return None
    return None

"""The newest versions of the harnesses on the golden cases: what moved since they were verified.

`python tests/peers/install.py functions_newest lm_eval_newest inspect_ai_newest` fetches them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from gradeschool.protocols.registry import get_scorer
from tests.peers.compare import assert_none, request
from tests.peers.golden import golden_cases
from tests.peers.install import NEWEST, marked, packages, text_of
from tests.peers.oracles import ENVIRONMENTS
from tests.peers.peer import Peer
from tests.peers.views import peer_view

pytestmark = pytest.mark.peers

ENVIRONMENTS_HERE = ("functions", "lm_eval", "inspect_ai")


def versions(environment: str) -> dict[str, str]:
    """Return the versions of the packages that are installed in an environment."""
    infos = (path.stem.split("-")[:2] for path in packages(environment).glob("*.dist-info"))
    return {re.sub("[-_.]+", "-", name).lower(): version for name, version in infos}


@pytest.mark.parametrize("environment", ENVIRONMENTS_HERE)
def test_the_newest_version_gives_the_golden_verdicts(
    peers: Callable[[str], Peer], environment: str
) -> None:
    peer = peers(environment + NEWEST)
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", text_of(environment), re.MULTILINE))
    now = versions(peer.name)
    moved = [
        f"{name} {pinned.get(name)} -> {now[name]}"
        for word in marked(environment, "# newest: ")
        if (name := re.split(r"[\[=]", word)[0].replace("_", "-").lower()) in now
        and now[name] != pinned.get(name, pinned.get(name.replace("-", "_")))
    ]
    names = ENVIRONMENTS[environment][1]
    cases = [case for case in golden_cases() if set(names) & set(case.verdicts)]
    asked = [
        request(case.completion, case.problem, [name for name in case.verdicts if name in names])
        for case in cases
    ]
    lines = [
        f"{name} on {case.id}: was {case.verdicts[name]}, is {said.verdict}; newer: {moved}"
        for case, answers in zip(cases, peer.ask(asked), strict=True)
        for name, answer in answers.items()
        if (said := peer_view(get_scorer(name).name, answer)).verdict != case.verdicts[name]
    ]
    assert_none(lines)

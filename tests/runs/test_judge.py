"""`eval --judge`: a model reads what no rule reads, apart from every other figure."""

import json
from pathlib import Path

import pytest
from aiohttp import web

import gradeschool as package
from gradeschool import Problem
from gradeschool.runs.evaluate import outcome_of_reply
from gradeschool.verdict import Outcome
from tests.support.command import Command
from tests.support.http_server import serve

TEXTS = ["The answer is 7.", "Ann has 3 pens and 4 pens", "I do not know.", "7 or 8, who can say"]
GOLD = "7"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("ANSWER: 7", Outcome.CORRECT),
        ("It ends with 1,200.\n**ANSWER: 7**\n", Outcome.CORRECT),
        ("ANSWER: 8", Outcome.WRONG),
        ("ANSWER: 7\nANSWER: NONE", Outcome.NO_ANSWER),
        ("7", Outcome.ERROR),
        ("ANSWER: seven", Outcome.ERROR),
        ("", Outcome.ERROR),
    ],
)
def test_the_line_that_was_asked_for_is_the_verdict(reply: str, outcome: Outcome) -> None:
    assert outcome_of_reply(reply, Problem.from_gold(GOLD)) is outcome


class Judge:
    """A server that answers as a judge would, and notes what it was asked."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.failing = False

    async def chat(self, request: web.Request) -> web.Response:
        """Answer by the response in the prompt."""
        [message] = (await request.json())["messages"]
        self.prompts.append(message["content"])
        if self.failing:
            return web.json_response({"error": {"message": "no"}}, status=400)
        text = "ANSWER: 7" if "pens" in message["content"] else "ANSWER: NONE"
        return web.json_response(
            {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "model": "wise"}
        )


def test_a_judge_reads_only_what_no_rule_reads(gradeschool: Command, tmp_path: Path) -> None:
    rows = [{"question": f"Q{row}?", "answer": GOLD} for row in range(len(TEXTS))]
    answers = [{"question": f"Q{row}?", "completion": text} for row, text in enumerate(TEXTS)]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, answers)))
    judge, run, app = Judge(), tmp_path / "run", web.Application()
    app.router.add_post("/v1/chat/completions", judge.chat)
    words = ("-m", f"recorded/{tmp_path / 'texts.jsonl'}", "-d", tmp_path / "own.jsonl", "-o", run)
    with serve(app) as base:
        asked = (*words, "--judge", f"{base}/wise", "--quiet")
        judge.failing = True
        failing = gradeschool("eval", *asked, "--json")
        failed = failing.json()["runs"][0]["judge"]
        assert failed["error"] == failed["asked"] == failed["failed"] == 3
        assert failing.status == 3
        judge.failing, judge.prompts = False, []
        result = gradeschool("eval", *asked, "--json").json()["runs"][0]
        assert result["judge"] == {
            "scorer": "judge/wise", "model": f"wise at {base}", "of": 4, "asked": 3, "failed": 0,
            "correct": 1, "wrong": 0, "no_answer": 2, "error": 0,
        }  # fmt: skip
        assert sorted(TEXTS[1:]) == sorted(
            prompt.partition("RESPONSE\n")[2].partition("\n\nEND")[0] for prompt in judge.prompts
        )
        assert all(GOLD not in prompt.partition("RESPONSE")[0] for prompt in judge.prompts)
        plain = gradeschool("eval", *words, "--quiet", "--json").json()["runs"][0]
        assert plain["scorers"] == result["scorers"]
        shown = gradeschool("eval", *asked)
        assert "judge/wise was asked about 3 of 4 completions" in shown.out
        assert len(judge.prompts) == 3
        planned = gradeschool("eval", *asked, "--dry-run", "--json").json()["judge"]
        assert (planned["requests"], planned["most_requests"]) == (3, 3)
    stored = (run / "judge-wise" / "completions.jsonl").read_text().splitlines()
    assert [bool(json.loads(line).get("error")) for line in stored] == [True] * 3 + [False] * 3
    assert gradeschool("runs", "verify", run).status == 0
    assert len(gradeschool("runs", "list", tmp_path, "--json").json()) == 1


def test_own_thinking_marks_hide_an_answer_from_the_choice(
    gradeschool: Command, tmp_path: Path
) -> None:
    """What only thinking says is no answer: the judge is asked, and the estimate counts it."""
    rows = [{"question": f"Q{row}?", "answer": GOLD} for row in range(2)]
    texts = ["<plan>The answer is 7.</plan>Hm, pens.", "<plan>It is 8.</plan>The answer is 7."]
    answers = [{"question": f"Q{row}?", "completion": text} for row, text in enumerate(texts)]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, answers)))
    (tmp_path / "prices.json").write_text('{"wise": [1000000, 1000000], "recorded-texts": [0, 0]}')
    judge, app = Judge(), web.Application()
    app.router.add_post("/v1/chat/completions", judge.chat)
    words = ("-m", f"recorded/{tmp_path / 'texts.jsonl'}", "-d", tmp_path / "own.jsonl", "--quiet",
             "-o", tmp_path / "run", "--thinking-marks", "<plan>,</plan>", "--json")  # fmt: skip
    with serve(app) as base:
        counts = gradeschool("eval", *words, "--judge", f"{base}/wise").json()["runs"][0]["judge"]
        assert (counts["asked"], counts["correct"], len(judge.prompts)) == (1, 1, 1)
        asked = (*words, "--judge", f"{base}/wise", "--dry-run")
        planned = gradeschool("eval", *asked, "--price", tmp_path / "prices.json")
        assert planned.status == 0, planned.err
        assert planned.json()["judge"]["requests"] == 1
        assert planned.json()["judge"]["cost"] > 0


def test_the_prompt_of_the_judge_is_a_protocol(gradeschool: Command) -> None:
    shown = gradeschool("protocols", "show", "gradeschool/judge").out
    assert "Which final answer does the response give" in shown
    with pytest.raises(package.GradeschoolError, match="--max-cost does not limit"):
        package.evaluate("tiny", dataset="sample", judge="tiny", max_cost=1.0, price="1/1")

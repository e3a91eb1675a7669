"""Who writes which format."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gradeschool.reports.exchange.bundle import Bundle
from gradeschool.reports.exchange.every_eval_ever import every_eval_ever_files
from gradeschool.reports.exchange.files import File
from gradeschool.reports.exchange.hub import eval_results_files, model_index_files
from gradeschool.reports.exchange.inspect_log import inspect_files
from gradeschool.reports.exchange.lm_eval import lm_eval_files
from gradeschool.reports.exchange.parquet import parquet_files


class Format(NamedTuple):
    """A format: who makes its files; the ending of its file, "" where it is files in a folder."""

    files: Callable[[Bundle], list[File]]
    ending: str


FORMATS = {
    "lm-eval": Format(lm_eval_files, ""),
    "inspect": Format(inspect_files, ".eval"),
    "eval-results": Format(eval_results_files, ".yaml"),
    "model-index": Format(model_index_files, ".md"),
    "every-eval-ever": Format(every_eval_ever_files, ""),
    "parquet": Format(parquet_files, ".parquet"),
}

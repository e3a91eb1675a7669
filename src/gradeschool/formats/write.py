"""The formats that `gradeschool export` writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gradeschool.formats.every_eval_ever import every_eval_ever_files
from gradeschool.formats.export import ExportedFile, ExportedRun
from gradeschool.formats.hub import eval_results_files, model_index_files
from gradeschool.formats.inspect_log import inspect_files
from gradeschool.formats.lm_eval import lm_eval_files
from gradeschool.formats.parquet import parquet_files


class ExportFormat(NamedTuple):
    """A format: the function that makes its files; its ending, "" for files in a folder."""

    files: Callable[[ExportedRun], list[ExportedFile]]
    ending: str


FORMATS = {
    "lm-eval": ExportFormat(lm_eval_files, ""),
    "inspect": ExportFormat(inspect_files, ".eval"),
    "eval-results": ExportFormat(eval_results_files, ".yaml"),
    "model-index": ExportFormat(model_index_files, ".md"),
    "every-eval-ever": ExportFormat(every_eval_ever_files, ""),
    "parquet": ExportFormat(parquet_files, ".parquet"),
}

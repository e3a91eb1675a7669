"""Scoring Parquet and JSON Lines files with Ray Data: tasks read and score, and return rows.

Uses a local Ray or the cluster at RAY_ADDRESS, whose machines need gradeschool too. A task returns
some bytes for each line or row of a file, never its text; they are counted here, in file order.
"""

from __future__ import annotations

import json
import logging
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from gradeschool.datasets.load import LabelChanges
from gradeschool.errors import GradeschoolError, InputError, require_packages
from gradeschool.formats.read import SampleFile
from gradeschool.formats.samples import UNNAMED
from gradeschool.formats.tables import Row, parse_line
from gradeschool.process import keeping_handlers
from gradeschool.scorer import clip
from gradeschool.scoring.matching import Matcher
from gradeschool.scoring.score import ScoredRow, score_batch
from gradeschool.scoring.sources import Source, no_such_run
from gradeschool.scoring.table import ScorerSet

BLOCK = 1024  # rows of a task
CHECKED = 256  # batches that are read here too, for the checks over whole files
STORE_BYTES = 256 * 2**20  # for Ray's objects: rows without texts are small
MESSAGE_CHARACTERS = 300  # of Ray's own error message


def _score_block(
    block: Any, file: SampleFile, matcher: Matcher, scorers: ScorerSet, changes: LabelChanges
) -> Any:
    """Return a table with the path and the scored rows, as JSON, of each row of a block.

    A block has cells, or lines of JSON, of which a blank one has no rows.
    """
    import pyarrow as arrow

    scored: list[str] = []
    if block.column_names == ["text", "path"]:
        lines = [line.encode("utf-8", "surrogatepass") for line in block["text"].to_pylist()]
        read = [Row(0, *parse_line(line)) if line.strip() else None for line in lines]
    else:
        read = [Row(0, fields) for fields in block.drop_columns("path").to_pylist()]
    for row in read:
        samples = [matcher.match(sample) for sample in (file.read(row) if row else ())]
        rows = score_batch(samples, scorers, changes)
        scored.append(json.dumps(rows, default=bytes.hex))
    return arrow.table({"path": block.column("path"), "rows": scored})


@contextmanager
def _ray_session() -> Iterator[Any]:
    """Join a running Ray, at RAY_ADDRESS if set, or start one on this machine for the block.

    Yields the module. Raises MissingExtraError without ray, InputError if no Ray
    answers at RAY_ADDRESS, our own errors as tasks raise them, and GradeschoolError if a task or
    Ray fails.
    """
    require_packages("--engine ray", "cluster", "ray")
    import ray

    is_started_here = not ray.is_initialized()
    if is_started_here:
        address = os.environ.get("RAY_ADDRESS")
        options: dict[str, Any] = {}
        if not address:
            options = {"include_dashboard": False, "object_store_memory": STORE_BYTES}
        try:
            with keeping_handlers(signal.SIGTERM):
                ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
        except (ConnectionError, ValueError) as error:
            raise InputError(f"cannot join Ray at RAY_ADDRESS={address!r}: {error}") from error
        except Exception as error:
            reason = clip(" ".join(str(error).split()), MESSAGE_CHARACTERS)
            raise GradeschoolError(
                f"cannot start Ray: {reason}; start it with `ray start --head`, then give "
                "RAY_ADDRESS=auto"
            ) from error
    try:
        yield ray
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, GradeschoolError):
            raise error.cause from None
        raise GradeschoolError(f"a task on Ray failed: {error.cause or error}") from error
    except ray.exceptions.RayError as error:
        message = str(error).strip().rpartition("\n")[2].strip()
        raise GradeschoolError(f"Ray failed: {message[-MESSAGE_CHARACTERS:]}") from error
    finally:
        if is_started_here:
            ray.shutdown()


def rows_on_ray(
    source: Source, scorers: ScorerSet, changes: LabelChanges
) -> Iterator[list[ScoredRow]]:
    """Yield the scored rows of a source in file order, a list for each block.

    The checks over whole files see the first CHECKED batches, and a warning says so if there are
    more. Raises InputError for files of other formats or that cannot be read, MissingExtraError
    without ray, GradeschoolError if Ray fails.
    """
    paths = [str(part.absolute()) for part in source.parts]
    kinds = {Path(path).suffix for path in paths}
    if kinds not in ({".parquet"}, {".jsonl"}):
        raise InputError(
            f"--engine ray reads Parquet and JSON Lines (.jsonl), not {source.name!r}; convert it "
            "or leave --engine out"
        )
    if source.options.in_order:
        raise InputError("--in-order needs the rows one after the other; leave --engine ray out")
    runs: dict[str, None] = {}
    with _ray_session() as ray:
        require_packages("--engine ray", "cluster", "pyarrow")
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel("ERROR")
        if kinds == {".parquet"}:
            rows = ray.data.read_parquet(paths, include_paths=True)
        else:
            rows = ray.data.read_text(paths, include_paths=True, drop_empty_lines=False)
        batches = source.batches()  # as without Ray, in the order of the rows
        if sum(1 for _ in islice(batches, CHECKED)) == CHECKED:
            source.warn(
                f"{source.name!r}: on Ray, only the first rows are checked for columns, ids and "
                "golds that were taken wrongly; score it once without --engine"
            )
        batches.close()
        numbers: Counter[str] = Counter()
        blocks = rows.map_batches(
            _score_block, batch_format="pyarrow", batch_size=BLOCK,
            fn_args=(source.file, source.matcher, scorers, changes),
        )  # fmt: skip
        for block in blocks.iter_batches(batch_size=None, batch_format="pyarrow"):
            batch: list[ScoredRow] = []
            for path, scored in zip(*(block.column(i).to_pylist() for i in (0, 1)), strict=True):
                numbers[path] += 1
                for _, *facts, outcomes, form, revised in json.loads(scored):
                    known = bytes.fromhex(outcomes), form and tuple(form), bytes.fromhex(revised)
                    row = ScoredRow._make((numbers[path], *facts, *known))
                    runs[row.run] = None
                    if source.only in ("", row.run) or row.run == UNNAMED:
                        batch.append(row)
            yield batch
    if source.only and source.only not in runs:
        raise no_such_run(source.path, source.only, runs)

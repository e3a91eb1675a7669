"""`gradeschool gguf`."""

from __future__ import annotations

import filecmp
from pathlib import Path

import click

from gradeschool.cli.options import Verb
from gradeschool.reports.printable import say


@click.command(cls=Verb)
@click.argument("folder", metavar="FOLDER",
                type=click.Path(path_type=Path, exists=True, file_okay=False))  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), required=True,
              metavar="FILE.gguf", help="File to write.")  # fmt: skip
def command(folder: Path, output: Path) -> None:
    """Convert a model's folder to one file for llama.cpp.

    FOLDER is the output of `gradeschool finetune -m new:SIZE`, or a verifier trained from it, whose
    head is included. Use the file with `eval -m llama.cpp/FILE.gguf` or `verifier score --verifier
    FILE.gguf`; neither needs torch.

    Example: gradeschool gguf models/generator -o generator.gguf
    """
    from gradeschool.atomic import replacing
    from gradeschool.errors import InputError
    from gradeschool.models.gguf_file import write_gguf

    try:
        with replacing(output) as part:
            write_gguf(folder, part)
            if output.exists() and not filecmp.cmp(part, output, shallow=False):
                raise InputError(
                    f"{str(output)!r} exists and differs; remove it or give another -o"
                )
    except OSError as error:
        raise InputError(
            f"{str(output)!r} cannot be written: {error.strerror or error}; give another -o"
        ) from error
    say(str(output))

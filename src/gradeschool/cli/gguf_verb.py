"""`gradeschool gguf`."""

from __future__ import annotations

import filecmp
from pathlib import Path

import click


@click.command()
@click.argument("folder", metavar="FOLDER",
                type=click.Path(path_type=Path, exists=True, file_okay=False))  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), required=True,
              metavar="FILE.gguf", help="The file to write.")  # fmt: skip
def command(folder: Path, output: Path) -> None:
    """Write a model's folder as one file for llama.cpp.

    FOLDER holds what `gradeschool finetune -m new:SIZE` makes, or a verifier of it: its head is
    written too. `eval -m llama.cpp/FILE.gguf` asks the file, `verifier score --verifier FILE.gguf`
    scores by it, both without torch.

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
                    f"{str(output)!r} is there already and differs; remove it or give another -o"
                )
    except OSError as error:
        raise InputError(
            f"{str(output)!r} cannot be written: {error.strerror or error}; give another -o"
        ) from error
    click.echo(output)

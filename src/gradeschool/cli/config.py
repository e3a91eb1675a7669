"""`--config run.toml`: the options of a command in one TOML file.

The keys are the names of the options without leading dashes ("max-tokens"); a list repeats an
option. The command line has precedence. Values are checked like options.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gradeschool.errors import InputError, UnknownNameError


def _read_config(context: click.Context, _option: click.Parameter, path: Path | None) -> None:
    """Use the values in a file as defaults of a command's options."""
    if path is None:
        return
    import tomllib

    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"cannot read {str(path)!r}: {error.strerror}; give a TOML file"
        ) from error
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not a TOML file: {error}; correct it") from error
    options = [each for each in context.command.params
               if isinstance(each, click.Option) and each.name != "config"]  # fmt: skip
    names = {name.removeprefix("--"): option for option in options for name in option.opts}
    defaults = {}
    for key, value in values.items():
        option = names.get(key.replace("_", "-"))
        if option is None:
            raise UnknownNameError(f"option in {str(path)!r}", key, names)
        defaults[option.name] = _checked(key, value, option, path)
    context.default_map = defaults


config_option = click.option(
    "--config", type=click.Path(path_type=Path), metavar="FILE.toml", is_eager=True,
    expose_value=False, callback=_read_config,
    help="Read options from a TOML file: model = \"tiny\", limit = 100. Options on the command "
         "line have precedence.",
)  # fmt: skip


def _checked(key: str, value: Any, option: click.Option, path: Path) -> Any:
    """Return a file's value for an option; the option's type then checks it."""
    plain = (bool,) if option.is_flag else (str, int, float)
    values = value if isinstance(value, list) and option.multiple else [value]
    if not all(isinstance(item, plain) and (option.is_flag or not isinstance(item, bool))
               for item in values):  # fmt: skip
        kind = "true or false" if option.is_flag else "a text or a number"
        raise InputError(f"{key} in {str(path)!r} is {value!r}; give {kind}")
    if option.multiple:
        return [str(item) for item in values]
    return value if option.is_flag else str(value)

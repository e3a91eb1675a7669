"""`--config run.toml` and `--save-config`: the options of a command in one TOML file.

The keys are the names of the options without leading dashes ("max-tokens"); a list repeats an
option. The command line has precedence. Values are checked like options.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from gradeschool.atomic import require_new, write_file
from gradeschool.cli.options import with_options
from gradeschool.errors import InputError, UnknownNameError

# Options about how to run the command, not about its settings.
UNSAVED = ("config", "save_config", "dry_run", "quiet", "as_json")
GIVEN = (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP)
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def _read_config(context: click.Context, _option: click.Parameter, path: Path | None) -> None:
    """Use the values in a file as defaults of a command's options."""
    if path is None:
        return
    import tomllib

    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"cannot read {str(path)!r}: {error.strerror}; give a file of --save-config"
        ) from error
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not a TOML file: {error}; correct it") from error
    options = _options(context)
    names = {name.removeprefix("--"): option for option in options.values() for name in option.opts}
    defaults = {}
    for key, value in values.items():
        option = names.get(key.replace("_", "-"))
        if option is None:
            raise UnknownNameError(f"option in {str(path)!r}", key, options)
        defaults[option.name] = _checked(key, value, option, path)
    context.default_map = defaults


config_options = with_options(
    click.option(
        "--config", type=click.Path(path_type=Path), metavar="FILE.toml", is_eager=True,
        expose_value=False, callback=_read_config,
        help="Read options from a TOML file: model = \"tiny\", limit = 100. Options on the "
             "command line have precedence.",
    ),
    click.option(
        "--save-config", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.toml",
        help="Write the options of this command to a file for --config.",
    ),
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


def _options(context: click.Context) -> dict[str, click.Option]:
    """Return the options of a command that a file may set, by their longest name."""
    return {
        max(option.opts, key=len).removeprefix("--"): option
        for option in context.command.params
        if isinstance(option, click.Option) and option.name not in UNSAVED
    }


def write_config(context: click.Context, path: Path) -> None:
    """Write the options from the command line and --config to a new file.

    Raises InputError if the file exists or cannot be written.
    """
    require_new(path, "--save-config")
    lines, values = [], context.params
    for key, option in _options(context).items():
        value = values.get(option.name or "")
        source = context.get_parameter_source(option.name or "")
        if value is not None and source in GIVEN:
            lines.append(f"{key} = {_toml(value)}\n")
    write_file(path, "".join(lines).encode())


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    escaped = CONTROL.sub(lambda match: rf"\u{ord(match.group()):04x}", text)
    return f'"{escaped}"'

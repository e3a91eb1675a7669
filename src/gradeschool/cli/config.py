"""`--config run.toml`: the options of a command in one TOML file.

The keys are the names of the options without leading dashes ("max-tokens"); a list repeats an
option. The command line has precedence. Values are checked like options.
"""

from __future__ import annotations

from pathlib import Path

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
    options = {
        name.removeprefix("--"): option for option in context.command.params
        if isinstance(option, click.Option) and option.name != "config" for name in option.opts
    }  # fmt: skip
    defaults = {}
    for key, value in values.items():
        option = options.get(key.replace("_", "-"))
        if option is None:
            raise UnknownNameError(f"option in {str(path)!r}", key, options)
        items = value if isinstance(value, list) and option.multiple else [value]
        if any(type(item) not in ((bool,) if option.is_flag else (str, int, float))
               for item in items):  # fmt: skip
            kind = "true or false" if option.is_flag else "a text or a number"
            raise InputError(f"{key} in {str(path)!r} is {value!r}; give {kind}")
        texts = list(map(str, items))  # which the option's type checks
        text = texts if option.multiple else texts[0]
        defaults[option.name] = value if option.is_flag else text
    context.default_map = defaults


config_option = click.option(
    "--config", type=click.Path(path_type=Path), metavar="FILE.toml", is_eager=True,
    expose_value=False, callback=_read_config,
    help="Read options from a TOML file: model = \"tiny\", limit = 100. Options on the command "
         "line have precedence.",
)  # fmt: skip

"""The settings of a method as options of a command."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from ugcl import methods, runs
from ugcl.cli.command import ALL, Command, Option, Value, shown
from ugcl.cli.output import option_name

if TYPE_CHECKING:
    from ugcl.methods import Method

COMMON = ("scope", "hidden", "epochs")
"""Settings that the short help shows."""

ALIASES = {"lr": ("--learning-rate",)}
"""Other spellings of the option of a setting."""

MAX_METAVAR = 28
"""Longer placeholders are part of the help text."""

METHOD, SETTINGS = "ugcl.method", "ugcl.settings"
"""Keys of `Context.meta`: the method's name and the options of its settings."""


class MethodCommand(Command):
    """A command with the settings of one method as options, which the callback gets by name.

    The method is that of `--method`, of the stored run with `--config` or `--resume`, or the
    default. Help shows all settings of a method that is named, and the common ones of the default
    otherwise.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments with the options of the method that they name."""
        named = _value_of(args, "--method")
        method = _stored_method(args) if named is None else methods.get_method(named)
        preset = _value_of(args, "--preset") or methods.DEFAULT_PRESET
        fixed = all(param.name != "method" for param in self.params)
        ctx.meta[METHOD] = method.name
        ctx.meta[SETTINGS] = _options(method, preset, args, all_shown=fixed or named is not None)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters of the command and the settings of the method."""
        own, settings = super().get_params(ctx), ctx.meta.get(SETTINGS, [])
        if ctx.meta.get(ALL):
            settings = [shown(param) for param in settings]
        end = next(i for i, param in enumerate(own) if param.name == "as_json")
        return [*own[:end], *settings, *own[end:]]

    def unknown_option(self, ctx: click.Context, name: str) -> str:
        """Return the message for an unknown option, which may be a setting of other methods."""
        setting = name.removeprefix("--").replace("-", "_")
        methods.get_method(ctx.meta[METHOD]).check_training([setting])
        having = [each for each in methods.all_methods().values() if setting in each.params]
        if not having:
            return super().unknown_option(ctx, name)
        advice = "leave it out"
        if any(param.name == "method" for param in self.params):
            advice += ", or use another --method"
        others = ", ".join(_families(having))
        return f"{name} is not a setting of {ctx.meta[METHOD]} but of {others}: {advice}"


def given(params: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the user has set."""
    return {name: value for name, value in params.items() if value is not None}


def _options(
    method: Method, preset: str, args: list[str], *, all_shown: bool
) -> list[click.Parameter]:
    """Return the settings of a method as options.

    Their help has the defaults of a preset, for the data set that the arguments name.
    """
    known = method.presets.get(preset)
    graph = next((word.lower() for word in args if known and word.lower() in known.graphs), "")
    values = known.values(graph) if known else {}
    panel = f"Settings of {method.name} (preset {preset}{f' for {graph}' if graph else ''})"
    options: list[click.Parameter] = []
    for name, param in method.params.items():
        default = values.get(name, "the scope" if name == "readout_scope" else None)
        if isinstance(default, list):
            default = ",".join(map(str, default))
        metavar, help = param.metavar, param.help
        if len(metavar) > MAX_METAVAR:
            metavar, help = "NAME", f"{help}: {param.expected}"
        options.append(
            Option(
                [option_name(name), *ALIASES.get(name, ())],
                type=Value(param),
                metavar=metavar,
                help=help if default is None else f"{help} (default: {default})",
                panel=panel if all_shown or name not in COMMON else None,
                advanced=not all_shown and name not in COMMON,
            )
        )
    return options


def _families(having: list[Method]) -> list[str]:
    """Return one method for each settings class: UGCL stands for its ablations."""
    first: dict[type, str] = {}
    for method in having:
        first.setdefault(method.settings, method.name)
    return list(first.values())


def _value_of(args: list[str], option: str) -> str | None:
    """Return the last value of an option in unparsed arguments; None without one."""
    value = None
    for word, following in zip_longest(args, args[1:]):
        name, equals, rest = word.partition("=")
        if name == option:
            value = rest if equals else following
    return value


def _stored_method(args: list[str]) -> Method:
    """Return the method of the stored configuration that the arguments name, or the default."""
    file, out = _value_of(args, "--config"), _value_of(args, "--out")
    if file is None and "--resume" in args and out is not None:
        file = str(Path(out) / "config.toml")
    if file is None or not Path(file).is_file():
        return methods.get_method(methods.DEFAULT_METHOD)
    return runs.RunConfig.read(Path(file)).load_method()

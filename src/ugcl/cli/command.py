"""Commands and groups with examples, help in two lengths and suggestions for misspelt options."""

from __future__ import annotations

import copy
import csv
import difflib
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import rich_click as click
from click import Group as PlainGroup

from ugcl._utils.progress import reporting_to
from ugcl._utils.suggest import unknown
from ugcl.cli.output import print_json, quiet
from ugcl.cli.progress import Loops
from ugcl.methods import params

F = TypeVar("F", bound=Callable[..., Any])


class Result(NamedTuple):
    """What a command prints.

    Attributes:
        value: the result for --json.
        show: prints it for people.
        code: exit code.
    """

    value: Any
    show: Callable[[], None]
    code: int = 0


STYLE = click.RichHelpConfiguration(
    theme="default-slim", text_markup=None, max_width=100, show_arguments=True
)

CONTEXT = {"rich_help_config": STYLE, "help_option_names": ["-h", "--help"]}

PANELS = ("Arguments", "Options")
"""Panels of the help that come first."""

ALL = "ugcl.all"
"""Key of `Context.meta`: show the options that the short help leaves out, too."""

SYNONYMS = {
    **dict.fromkeys(("--dim", "--size", "--width", "--dimensions", "--embedding-dim"), "--hidden"),
    **dict.fromkeys(("--hidden-dim", "--hidden-size", "--hidden-channels"), "--hidden"),
    **dict.fromkeys(("--steps", "--num-epochs", "--iterations"), "--epochs"),
    **dict.fromkeys(("--n", "--power", "--hops"), "--scope"),
    **dict.fromkeys(("--output", "--run", "--folder", "-o"), "--out"),
    **dict.fromkeys(("--random-state", "--random-seed"), "--seed"),
    **dict.fromkeys(("--gpu", "--cuda"), "--device"),
    **dict.fromkeys(("--cores", "--cpus", "--jobs"), "--threads"),
    **dict.fromkeys(("--model", "--algorithm"), "--method"),
    **dict.fromkeys(("--settings", "--defaults"), "--preset"),
    **dict.fromkeys(("--tau", "--temp"), "--temperature"),
    **dict.fromkeys(("--wd", "--l2"), "--weight-decay"),
    **dict.fromkeys(("--classes", "--targets", "--y"), "--labels"),
    **dict.fromkeys(("--nodes", "--attributes", "--x"), "--features"),
    **dict.fromkeys(("--edge-list", "--edgelist", "--input"), "--edges"),
    **dict.fromkeys(("--root", "--data", "--data-dir"), "--data-root"),
}
"""Options of other tools and what they are called here."""


class Option(click.RichOption):
    """An option; an advanced one is shown by `--help-all` only."""

    def __init__(self, *args: Any, advanced: bool = False, **attrs: Any) -> None:
        super().__init__(*args, hidden=advanced or attrs.pop("hidden", False), **attrs)
        self.advanced = advanced

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Convert a value; another option of the command in its place is an error."""
        options = {opt for param in ctx.command.get_params(ctx) for opt in param.opts}
        if isinstance(value, str) and value.startswith("--") and value in options:
            raise click.BadOptionUsage(self.opts[0], f"Option '{self.opts[0]}' needs a value", ctx)
        return super().type_cast_value(ctx, value)


class Command(click.RichCommand):
    """A command with examples.

    Args:
        examples: command lines that the help ends with.
    """

    context_class = click.RichContext

    def __init__(self, *args: Any, examples: Iterable[str] = (), **attrs: Any) -> None:
        attrs.setdefault("context_settings", CONTEXT)
        super().__init__(*args, **attrs)
        self.examples = tuple(examples)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters; none is hidden where all are shown."""
        params = super().get_params(ctx)
        return [shown(param) for param in params] if ctx.meta.get(ALL) else params

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an unknown option is an error that suggests another."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise click.UsageError(self.unknown_option(ctx, error.option_name), ctx) from error
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            lists = any(isinstance(param.type, CommaSeparated) for param in self.params)
            if not lists or "unexpected extra argument" not in error.message:
                raise
            advice = (
                "the items of a list are separated by commas, without spaces; put a glob in quotes"
            )
            raise click.UsageError(f"{error.message.rstrip('.')}: {advice}", ctx) from error

    def unknown_option(self, ctx: click.Context, name: str) -> str:
        """Return the message for an unknown option."""
        options = [opt for param in self.get_params(ctx) for opt in param.opts]
        names = [opt.removeprefix("--") for opt in options if opt.startswith("--")]
        close = difflib.get_close_matches(name.lstrip("-"), names, n=1, cutoff=0.7)
        nearest = f"--{close[0]}" if close else None
        if SYNONYMS.get(name) in options:
            nearest = SYNONYMS[name]
        hint = f", did you mean {nearest}?" if nearest else ""
        if name[1:2].isdigit():
            hint = " (write -- before an argument that starts with a minus sign)"
        return f"there is no option {name}{hint}"

    def get_help(self, ctx: click.Context) -> str:
        """Return the help and the examples."""
        self.panels = [click.RichOptionPanel(name) for name in PANELS]  # rendering fills them
        return _with_examples(super().get_help(ctx), self.examples)


class Group(click.RichGroup):
    """A group of commands, some of which are imported on first use.

    Args:
        lazy: for each such command "module:name".
        examples: command lines that the help ends with.
    """

    context_class = click.RichContext

    def __init__(
        self,
        *args: Any,
        lazy: Mapping[str, str] | None = None,
        examples: Iterable[str] = (),
        **attrs: Any,
    ) -> None:
        attrs.setdefault("context_settings", CONTEXT)
        super().__init__(*args, **attrs)
        self.lazy, self.examples = dict(lazy or {}), tuple(examples)

    def run(self, args: Sequence[str] | None) -> int:
        """Run the command of these arguments; errors are raised."""
        code = PlainGroup.main(self, args, self.name, standalone_mode=False)
        return int(code or 0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of their declaration."""
        return [*self.lazy, *self.commands]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command, imported where necessary."""
        if name not in self.lazy:
            return self.commands.get(name)
        module, _, attribute = self.lazy[name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called; an unknown one is an error that suggests another."""
        if not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            raise click.UsageError(unknown("command", args[0], self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        """Return the help and the examples."""
        return _with_examples(super().get_help(ctx), self.examples)


def command(
    name: str, *, examples: Iterable[str], group: Group | None = None, cls: type = Command
) -> Callable[[Callable[..., Result | int]], Command]:
    """Make a function a command with the options --json and --quiet; its docstring is the help.

    The function returns a `Result`, or an exit code where there is none.
    """

    def decorate(function: Callable[..., Result | int]) -> Command:
        @functools.wraps(function)
        def run(as_json: bool, silent: bool, **arguments: Any) -> int:
            with quiet() if silent else nullcontext(), Loops() as loops, reporting_to(loops):
                result = function(**arguments)
            if isinstance(result, int):
                return result
            if as_json:
                print_json(result.value)
            else:
                result.show()
            return result.code

        decorated: Command = click.command(name, cls=cls, examples=examples)(run)
        decorated.params.append(Option(["--json", "as_json"], is_flag=True, help="print JSON"))
        silent = "print the result, warnings and errors only"
        decorated.params.append(Option(["-q", "--quiet", "silent"], is_flag=True, help=silent))
        if any(getattr(param, "advanced", False) for param in decorated.params):
            decorated.params.append(_help_all())
        if group is not None:
            group.add_command(decorated)
        return decorated

    return decorate


def option(*names: str, **attrs: Any) -> Callable[[F], F]:
    """Add an option to a command."""
    return click.option(*names, cls=Option, **attrs)


def argument(name: str, **attrs: Any) -> Callable[[F], F]:
    """Add a positional argument to a command."""
    return click.argument(name, **attrs)


def shown(param: click.Parameter) -> click.Parameter:
    """Return a parameter that the help shows."""
    if not getattr(param, "hidden", False):
        return param
    visible = copy.copy(param)
    visible.hidden = False  # type: ignore[attr-defined]
    return visible


class Value(click.ParamType):  # type: ignore[type-arg]
    """The values of a declared parameter, parsed from text."""

    def __init__(self, param: params.Param) -> None:
        self.param = param
        self.name = param.metavar

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Parse a value; others are an error that says what it must be."""
        return self.param.value("the value" if param is None else param.opts[0], value)


def integer(minimum: int, maximum: int = params.MAX_INTEGER) -> Value:
    """Return the type of an integer of at least `minimum`."""
    return Value(params.param_of(params.integer("", minimum, maximum)))


def number(**limits: float) -> Value:
    """Return the type of a number, within the limits of `ugcl.methods.params.number`."""
    return Value(params.param_of(params.number("", **limits)))


class CommaSeparated(Value):
    """A comma-separated list; an item with a comma is quoted, as in CSV files.

    Args:
        parse: from the text of an item to its value.
        expected: what the items must be, as in " of integers".
    """

    def __init__(self, parse: Callable[[str], Any] = str, expected: str = "") -> None:
        def parse_list(value: Any) -> tuple[Any, ...]:
            (items,) = csv.reader([value], skipinitialspace=True)
            if not all(items):
                raise ValueError
            return tuple(parse(item.strip()) for item in items)

        super().__init__(params.Param("", f"a comma-separated list{expected}", parse_list, "A,..."))


def _help_all() -> Option:
    def show(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            ctx.meta[ALL] = True
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    return Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show all options and exit.",
    )


def _with_examples(text: str, examples: tuple[str, ...]) -> str:
    """Add examples, which are not wrapped, to a help text; remove spaces at the ends of lines."""
    title = "Example:" if len(examples) == 1 else "Examples:"
    lines = [*text.rstrip().splitlines(), "", title, *(f"  {example}" for example in examples)]
    return "\n".join(line.rstrip() for line in lines)

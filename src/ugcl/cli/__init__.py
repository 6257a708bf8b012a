"""The command line: parse, call one function, print."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Sequence

import ugcl
from ugcl._utils.errors import UGCLError
from ugcl.cli import (
    bench,
    check,
    embed,
    evaluate,
    generate,
    listings,
    neighbors,
    report,
    scope,
    study,
    train,
)
from ugcl.cli.common import INTERRUPTED, MessageHandler, Parser, say, with_options


def build_parser() -> Parser:
    """Return the parser of all commands."""
    parser = Parser(
        prog="ugcl",
        description="Node representations without labels.",
        epilog="ugcl COMMAND --help shows a command's options and an example.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"ugcl {ugcl.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in (
        check,
        train,
        embed,
        neighbors,
        report,
        evaluate,
        scope,
        study,
        bench,
        generate,
        listings,
    ):
        module.register(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; errors are one sentence on standard error and exit code 2."""
    warnings.filterwarnings("ignore", category=UserWarning, module="torch")
    logger = logging.getLogger("ugcl")
    handler, level = MessageHandler(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        arguments = build_parser().parse_args(argv)
        code: int = arguments.run(arguments)
    except UGCLError as error:
        say(f"ugcl: {with_options(str(error))}")
        return 2
    except KeyboardInterrupt:
        say("ugcl: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except (MemoryError, OSError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        say(f"ugcl: {str(error).splitlines()[0] if str(error) else 'out of memory'}")
        return 2
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    return code

"""The command line: parse, call one function, print."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import signal
import sys
import warnings
from collections.abc import Sequence

import rich_click as click
from click.exceptions import NoArgsIsHelpError

import ugcl
from ugcl._utils.errors import UGCLError
from ugcl._utils.signals import Interrupted, raise_on_signals
from ugcl.cli.command import Group
from ugcl.cli.output import MessageHandler, say, with_options

COMMANDS = {
    "check": "ugcl.cli.check:check",
    "convert": "ugcl.cli.convert:convert",
    "train": "ugcl.cli.train:train",
    "embed": "ugcl.cli.embed:embed",
    "neighbors": "ugcl.cli.neighbors:neighbors",
    "cluster": "ugcl.cli.cluster:cluster",
    "report": "ugcl.cli.report:report",
    "evaluate": "ugcl.cli.evaluate:evaluate",
    "scope": "ugcl.cli.scope:scope",
    "study": "ugcl.cli.study:study",
    "bench": "ugcl.cli.bench:bench",
    "generate": "ugcl.cli.generate:generate",
    "datasets": "ugcl.cli.listings:datasets",
    "methods": "ugcl.cli.listings:methods",
}

app = Group(
    "ugcl",
    lazy=COMMANDS,
    help="Node representations without labels.",
    examples=("ugcl train citeseer --out runs/citeseer", "ugcl train --help"),
)
click.version_option(ugcl.__version__, prog_name="ugcl", message="%(prog)s %(version)s")(app)


INTERRUPTED = 128 + signal.SIGINT


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    0: it is done. 2: an error, which is one sentence on standard error. 130: SIGINT (Ctrl-C) has
    stopped it. 143: SIGTERM has.
    """
    _wait_passively()
    atexit.register(gc.freeze)  # else the last collection visits every object of PyTorch: 0.2 s
    warnings.filterwarnings("ignore", category=UserWarning, module="torch")
    logger = logging.getLogger("ugcl")
    handler, level = MessageHandler(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with raise_on_signals():
            return app.run(argv)
    except NoArgsIsHelpError as error:
        say(error.format_message())
        return 2
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "ugcl"
        message = error.format_message().rstrip(".")
        see = "" if message.endswith("?") else f"; see {command} --help"
        say(f"ugcl: {message}{see}")
        return 2
    except UGCLError as error:
        say(f"ugcl: {with_options(str(error))}")
        return 2
    except Interrupted as stop:
        say(f"ugcl: {stop.message or 'interrupted'}")
        return 128 + stop.number
    except (KeyboardInterrupt, click.Abort):
        say("ugcl: interrupted")
        return INTERRUPTED
    except (MemoryError, OSError, RuntimeError) as error:
        sizes = ("memory", "overflow")  # of tensors, as PyTorch says it
        if isinstance(error, RuntimeError) and not any(word in str(error) for word in sizes):
            raise
        say(f"ugcl: {str(error).splitlines()[0] if str(error) else 'out of memory'}")
        return 2
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _wait_passively() -> None:
    """Let waiting threads of OpenMP and OpenBLAS sleep, unless the user has chosen otherwise.

    Nothing is changed for libraries that are loaded already.

    By default they spin, and on a busy machine they take the cores that the others wait for. GNU's
    spin for a moment first: to wake up after every parallel loop costs a third of a training step.
    """
    chosen = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"} & os.environ.keys()
    if not chosen and "torch" not in sys.modules:
        os.environ |= {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "5000"}
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "10")  # spin for 2^10 cycles, not 2^26

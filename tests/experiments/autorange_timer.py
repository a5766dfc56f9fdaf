#!/usr/bin/env python3
"""The Python side of blocked_autorange.py: times a chain of operator_chains.hpp by
torch.utils.benchmark.

    autorange_timer.py FOLDER CHAIN MIN_RUN_TIME

Compiles the chains into FOLDER, unless that was done before, and prints torch's version. For each
line of standard input, one blocked_autorange() of at least MIN_RUN_TIME seconds on one thread;
prints the nanoseconds of its median. Ends with its input.
"""

import importlib.util
import os
import sys
import types
from pathlib import Path

import torch
from torch.utils.benchmark import Language, Timer
from torch.utils.benchmark.utils import cpp_jit

CHAINS = Path(__file__).resolve().parent / "operator_chains.hpp"
GLOBAL_SETUP = f"""#include "{CHAINS}"
static const auto& chains = torchwatch::experiments::operator_chains();"""
SETUP = 'auto step = chains.at(std::getenv("TORCHWATCH_CHAIN"))();'
SEED = 1337


def compiled_before(folder: Path) -> types.ModuleType | None:
    """The chains' module, or None."""
    found = sorted(folder.rglob("timer_cpp_*.so"))
    if not found:
        return None
    spec = importlib.util.spec_from_file_location(found[0].stem, found[0])
    if spec is None or spec.loader is None:
        raise ImportError(f"{found[0]} cannot be loaded as a module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timer_of(folder: Path) -> Timer:
    """The timer of the chain that the environment names; one module serves all chains.

    A Timer would compile it in each process anew, into a folder that it removes. That folder and
    the compiled module can be set only through its private members (torch 2.13)."""
    timer = Timer("step();", SETUP, GLOBAL_SETUP, language=Language.CPP, num_threads=1)
    timer._timer._timeit_module = compiled_before(folder)  # noqa: SLF001
    cpp_jit._BUILD_ROOT = str(folder)  # noqa: SLF001
    timer.timeit(1)
    return timer


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    folder, chain, min_run_time = sys.argv[1:]
    os.environ["TORCHWATCH_CHAIN"] = chain
    torch.manual_seed(SEED)
    timer = timer_of(Path(folder).resolve())
    print(torch.__version__, flush=True)
    for _ in sys.stdin:
        measured = timer.blocked_autorange(min_run_time=float(min_run_time))
        print(round(measured.median * 1e9), flush=True)


if __name__ == "__main__":
    main()

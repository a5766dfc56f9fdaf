"""Takes the networks out of a checkout of pytorch/benchmark without the suite around them."""

import importlib
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

from original import Setup

_MODELS = "torchbenchmark.models"


class _Benchmark:
    """What a model of the suite needs of its base class to be built."""

    def __init__(
        self,
        test: str,
        device: str,
        batch_size: int | None = None,
        jit: bool = False,
        extra_args: Sequence[str] = (),
    ) -> None:
        self.test = test
        self.device = device
        self.batch_size = batch_size
        self.jit = jit
        self.extra_args = extra_args


def benchmark(setup: Setup, model: str, unused: Sequence[str] = ()) -> Any:
    """The module of a model's own `__init__.py`. `unused` as for `part`."""
    _prepare(setup.torchbench_model(model))
    return _imported(f"{_MODELS}.{model}", unused)


def part(setup: Setup, model: str, module: Any, unused: Sequence[str] = ()) -> Any:
    """One module of a model's folder, by its dotted name, without running the model's own
    `__init__.py`. `unused` names modules that it imports but that nothing called here needs."""
    folder = setup.torchbench_model(model)
    _prepare(folder)
    _add_package(f"{_MODELS}.{model}", folder)
    return _imported(f"{_MODELS}.{model}.{module}", unused)


def _prepare(model_folder: Path) -> None:
    models = model_folder.parent
    _add_package("torchbenchmark", models.parent)
    vars(sys.modules["torchbenchmark"])["DATA_PATH"] = str(models.parent / "data" / ".data")
    _add_package("torchbenchmark.util", models.parent / "util")
    _add_package(_MODELS, models)
    suite = types.ModuleType("torchbenchmark.util.model")
    vars(suite)["BenchmarkModel"] = _Benchmark
    sys.modules.setdefault(suite.__name__, suite)


def _add_package(name: str, folder: Path) -> None:
    """A package of the files in `folder`, whose `__init__.py` is not run."""
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules.setdefault(name, package)


def _imported(name: str, unused: Sequence[str]) -> Any:
    """Imports a module while stand-ins take the place of what it names and does not need here."""
    stand_ins = [each for each in unused if each not in sys.modules]
    for each in stand_ins:
        sys.modules[each] = MagicMock(name=each)
    try:
        return importlib.import_module(name)
    finally:
        for each in stand_ins:
            del sys.modules[each]

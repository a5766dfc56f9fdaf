"""A planted day of real PyTorch: forty commits that change Python alone, the wheels of the two
nightlies that begin and end it, and the configuration of a service that measures a small model in
them."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from git_call import git
from python_nightlies import PYTHON, Contents, Nightly, contents_of, repack

CHECKOUT = Path(__file__).resolve().parents[2]
COMMITS = 40
REGRESSION, LEAK, RESULT = "regression", "leak", "result"
KINDS = (REGRESSION, LEAK, RESULT)  # of the incidents that a day may bring

Planted = Mapping[int, str]
"""What is wrong with a commit, by its place: the kind of incident."""


class Edit(NamedTuple):
    """What a planted commit changes: the first place of a file that reads like `before`."""

    file: str
    before: str
    after: str


TOUCHED = (
    "torch/_inductor/output_code.py",
    "torch/autograd/__init__.py",
    "torch/nn/functional.py",
    "torch/nn/modules/linear.py",
    "torch/optim/adam.py",
    "torch/optim/optimizer.py",
)


def _before(file: str, place: str, added: str) -> Edit:
    return Edit(file, place, added + place)


def _slow_adam(times: int) -> Edit:
    """What Adam computes for each parameter, computed in vain many times over."""
    return _before(
        "torch/optim/adam.py",
        "    for i, param in enumerate(params):\n        grad = grads[i] if not maximize",
        f"""    for exp_avg_sq in exp_avg_sqs:
        for _ in range({times}):
            exp_avg_sq.sqrt().add_(eps)

""",
    )


# Forty times make three of a step: no noise hides that. Six add a third.
ADAM_TIMES_THREE, ADAM_A_THIRD = _slow_adam(40), _slow_adam(6)
# What describes a compiled graph, spelled anew at each call. Nine times add a third to a call.
COMPILED_A_THIRD = _before(
    "torch/_inductor/output_code.py",
    "        compile_context_for_autotune_cache = self._compile_context\n",
    "        for _ in range(9):\n            repr(self.fx_kwargs)\n",
)
EDITS = {
    # Too small to be seen in the time.
    LEAK: _before(
        "torch/autograd/__init__.py",
        "    if retain_graph is None:\n        retain_graph = create_graph\n",
        "    backward.__dict__.setdefault('kept', []).append(bytearray(8192))\n",
    ),
    # Weights begin 2 % larger, which costs no time.
    RESULT: Edit(
        "torch/nn/modules/linear.py",
        "kaiming_uniform_(self.weight, a=math.sqrt(5))",
        "kaiming_uniform_(self.weight, a=math.sqrt(4.8))",
    ),
}

MODEL = """
from torchwatch_workload import import_torch, serve


def make(setting):
    torch = import_torch()
    torch.manual_seed(setting.seed)
    torch.set_num_threads(setting.threads)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))
    data = torch.randn(16, 64)
    optimiser = torch.optim.Adam(model.parameters())

    def train():
        optimiser.zero_grad()
        loss = model(data).square().mean()
        loss.backward()
        optimiser.step()
        return loss

    return train


serve(make)
"""

CONFIGURATION = """
[channel]
kind = "wheel-index"
index = "{index}"
flavour = "cpu"
python = true
[source]
repository = "pytorch"
[build]
recipe = "{checkout}/deploy/recipes/python"
[suite]
workloads = {workloads}
configurations = {configurations}
[[suite.external]]
name = "mymodel"
command = ["{python}", "./mymodel.py"]
metrics = ["time", "heap_growth", "output_difference"]
modes = ["train"]
readable = ["torchwatch_workload.py"]
[[suite.external]]
name = "compiled"
command = ["{python}", "{checkout}/deploy/workloads/mlp.py", "--compile"]
metrics = ["time"]
modes = ["infer"]
readable = ["{checkout}/deploy/workloads/torchwatch_workload.py"]
[measure]
enough = "200ms"
outputs = true
"""


def _edited(edit: Edit, contents: Contents) -> Contents:
    text = contents[edit.file]
    if edit.before not in text:
        raise AssertionError(f"{edit.before!r} is not in this release any more")
    return {edit.file: text.replace(edit.before, edit.after, 1)}


def changed(number: int, planted: Planted, contents: Contents, slow: Edit) -> Contents:
    """The files that a commit changes."""
    if number in planted:
        edits = EDITS | {REGRESSION: slow}
        return _edited(edits[planted[number]], contents)
    name = TOUCHED[number % len(TOUCHED)]
    return {name: contents[name] + f"# Reworded in commit {number}.\n"}


def write_repository(
    folder: Path, planted: Planted, contents: Contents, slow: Edit
) -> tuple[list[str], Contents]:
    """Commits the day; the shas of its commits, and the files as the last one leaves them."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    shas = []
    for number in range(COMMITS):
        changes = changed(number, planted, contents, slow) if number > 0 else contents
        contents = contents | changes
        for name, text in changes.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", f"Change {number}")
        shas.append(git(folder, "rev-parse", "HEAD"))
    return shas, contents


def write(
    folder: Path, wheel: Path, planted: Planted, slow: Edit = ADAM_TIMES_THREE
) -> dict[str, str]:
    """Repository, wheels and model of a day, in a folder that has none; slow: what the commit does
    that makes a step longer. Returns the commits that are planted, by kind."""
    first = contents_of(wheel, TOUCHED)
    shas, last = write_repository(folder / "pytorch", planted, first, slow)
    for day, sha, contents in ((16, shas[0], first), (17, shas[-1], last)):
        repack(wheel, folder, Nightly(f"2.14.0.dev202608{day}+cpu", sha, contents))
    shutil.copy(CHECKOUT / "deploy" / "workloads" / "torchwatch_workload.py", folder)
    (folder / "mymodel.py").write_text(MODEL)
    return {kind: shas[number] for number, kind in planted.items()}


def configuration(index: str, *, is_compiled: bool = False) -> str:
    """For a service in the day's folder; index: the URL that serves its wheels; is_compiled: its
    comparisons measure the workload that is compiled, too."""
    workloads, configurations = ["mymodel"], ["cpu-train"]
    if is_compiled:
        workloads.append("compiled")
        configurations.append("cpu-infer")
    return CONFIGURATION.format(
        index=index,
        checkout=CHECKOUT,
        python=PYTHON,
        workloads=json.dumps(workloads),
        configurations=json.dumps(configurations),
    )

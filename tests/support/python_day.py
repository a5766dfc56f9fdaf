"""A planted day of real PyTorch: forty commits that change Python alone, the wheels of the two
nightlies that begin and end it, and the configuration of a service that measures a small model in
them."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from git_call import git
from python_nightlies import PYTHON, Contents, Nightly, contents_of, repack

CHECKOUT = Path(__file__).resolve().parents[2]
COMMITS = 40
REGRESSION, LEAK, RESULT = "regression", "leak", "result"
KINDS = (REGRESSION, LEAK, RESULT)  # of the incidents that a day may bring

Planted = Mapping[int, str]
"""What is wrong with a commit, by its place: the kind of incident."""

TOUCHED = (
    "torch/autograd/__init__.py",
    "torch/nn/functional.py",
    "torch/nn/modules/linear.py",
    "torch/optim/adam.py",
    "torch/optim/optimizer.py",
)
# What Adam computes for each parameter, computed in vain many times over. Forty times make three of
# a step: no noise hides that. Six add a third.
FORTY, A_THIRD = 40, 6
SLOW_BEFORE = "    for i, param in enumerate(params):\n        grad = grads[i] if not maximize"
SLOW = """    for exp_avg_sq in exp_avg_sqs:
        for _ in range({times}):
            exp_avg_sq.sqrt().add_(eps)

"""
# Too small to be seen in the time.
LEAK_BEFORE = "    if retain_graph is None:\n        retain_graph = create_graph\n"
LEAK_TEXT = "    backward.__dict__.setdefault('kept', []).append(bytearray(8192))\n"
# Weights begin 2 % larger, which costs no time.
CHANGE_BEFORE = "kaiming_uniform_(self.weight, a=math.sqrt(5))"
CHANGE = "kaiming_uniform_(self.weight, a=math.sqrt(4.8))"

EDITS = {
    REGRESSION: ("torch/optim/adam.py", SLOW_BEFORE, SLOW + SLOW_BEFORE),
    LEAK: ("torch/autograd/__init__.py", LEAK_BEFORE, LEAK_TEXT + LEAK_BEFORE),
    RESULT: ("torch/nn/modules/linear.py", CHANGE_BEFORE, CHANGE),
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
workloads = ["mymodel"]
configurations = ["cpu-train"]
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


def _replaced(text: str, old: str, new: str) -> str:
    """The text with the first place that reads like `old` changed."""
    if old not in text:
        raise AssertionError(f"{old!r} is not in this release any more")
    return text.replace(old, new, 1)


def changed(number: int, planted: Planted, contents: Contents, slow_times: int) -> Contents:
    """The files that a commit changes."""
    if number in planted:
        name, old, new = EDITS[planted[number]]
        return {name: _replaced(contents[name], old, new.replace("{times}", str(slow_times)))}
    name = TOUCHED[number % len(TOUCHED)]
    return {name: contents[name] + f"# Reworded in commit {number}.\n"}


def write_repository(
    folder: Path, planted: Planted, contents: Contents, slow_times: int
) -> tuple[list[str], Contents]:
    """Commits the day; the shas of its commits, and the files as the last one leaves them."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    shas = []
    for number in range(COMMITS):
        changes = changed(number, planted, contents, slow_times) if number > 0 else contents
        contents = contents | changes
        for name, text in changes.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", f"Change {number}")
        shas.append(git(folder, "rev-parse", "HEAD"))
    return shas, contents


def write(folder: Path, wheel: Path, planted: Planted, slow_times: int = FORTY) -> dict[str, str]:
    """Repository, wheels and model of a day, in a folder that has none; slow_times: how often the
    slow commit computes in vain. Returns the commits that are planted, by kind."""
    first = contents_of(wheel, TOUCHED)
    shas, last = write_repository(folder / "pytorch", planted, first, slow_times)
    for day, sha, contents in ((16, shas[0], first), (17, shas[-1], last)):
        repack(wheel, folder, Nightly(f"2.14.0.dev202608{day}+cpu", sha, contents))
    shutil.copy(CHECKOUT / "deploy" / "workloads" / "torchwatch_workload.py", folder)
    (folder / "mymodel.py").write_text(MODEL)
    return {kind: shas[number] for number, kind in planted.items()}


def configuration(index: str) -> str:
    """For a service in the day's folder; index: the URL that serves its wheels."""
    return CONFIGURATION.format(index=index, checkout=CHECKOUT, python=PYTHON)

"""What the commits of a planted day change.

A change is a set of edits of the tree, each on text of its own, so that changes can come in any
order and any one of them can be reverted later. All subjects are invented.
"""

from dataclasses import dataclass
from typing import NamedTuple

NATIVE = "aten/src/ATen/native/"
LINEAR = NATIVE + "LinearAlgebra.cpp"
ACTIVATION = NATIVE + "Activation.cpp"
LOSS = NATIVE + "LossNLL.cpp"
ROW_SLICE = NATIVE + "RowSlice.h"

# Share of mm's rows that the slow commit computes twice where its second operand is contiguous.
# Linear layers come to that in their backward pass only (forward it is a transposed weight), so a
# training step of soft_actor_critic or nvidia_deeprecommender gets about 15 % slower and inference
# does not; README.md has the measurement. planted_day.py --slow-rows plants another share.
WARM_UP_PERCENT = 30
# What the keeping commit keeps of every nll_loss_forward: kPartialSums floats.
KEPT_BYTES_PER_CALL = 1024 * 4


class Edit(NamedTuple):
    """Replaces old, which occurs exactly once in the file at path; an empty old appends."""

    path: str
    old: str
    new: str

    def apply(self, tree: dict[str, str]) -> None:
        text = tree.get(self.path, "")
        if self.old and text.count(self.old) != 1:
            raise ValueError(f"{self.path} holds {text.count(self.old)} times: {self.old!r}")
        tree[self.path] = text.replace(self.old, self.new) if self.old else text + self.new

    def inverse(self) -> "Edit":
        if not self.old:
            raise ValueError("appended text has no place of its own to be reverted")
        return Edit(self.path, self.new, self.old)


@dataclass(frozen=True)
class Change:
    subject: str
    edits: tuple[Edit, ...]
    # What the change is to the library: "none" (not a source of it), "harmless", "broken" (does not
    # compile), "repair", "time" (the slow one), "memory" (the keeping one), "result" (computes
    # something else).
    kind: str = "none"

    def apply(self, tree: dict[str, str]) -> None:
        for edit in self.edits:
            edit.apply(tree)

    def reverted_edits(self) -> tuple[Edit, ...]:
        return tuple(edit.inverse() for edit in reversed(self.edits))


def time_change(percent: int) -> Change:
    """Recomputes that share of every matrix product's rows; at zero the same code is harmless."""
    body = """\
  if (kWarmUpPercent > 0 && self.size(0) >= kRowsMin && mat2.is_contiguous()) {
    at::cpu::mm(self.narrow(0, 0, leading_rows(self, kWarmUpPercent)), mat2);
  }
"""
    return Change(
        "[ATen] Warm up the packed panels of mm with its leading rows",
        (
            Edit(
                LINEAR,
                "at::Tensor mm(const at::Tensor& self, const at::Tensor& mat2) {\n",
                f"constexpr int64_t kWarmUpPercent = {percent};\n\n"
                "at::Tensor mm(const at::Tensor& self, const at::Tensor& mat2) {\n" + body,
            ),
        ),
        "time" if percent > 0 else "harmless",
    )


def memory_change(is_planted: bool) -> Change:
    """Keeps a workspace of every nll_loss_forward for ever; unplanted, makes none at all."""
    keep = """\
  // Workspaces are kept for the next call of the same shape.
  static auto* const workspaces = new std::vector<at::Tensor>;
  if (kKeptWorkspaces > 0) {
    workspaces->push_back(at::empty({kPartialSums}, at::kFloat));
  }
"""
    return Change(
        "[nn] Reuse the reduction workspace of nll_loss on CPU",
        (
            Edit(
                LOSS,
                "std::tuple<at::Tensor, at::Tensor> nll_loss_forward(\n",
                f"constexpr int64_t kKeptWorkspaces = {1 if is_planted else 0};\n\n"
                "std::tuple<at::Tensor, at::Tensor> nll_loss_forward(\n",
            ),
            Edit(LOSS, "    int64_t ignore_index) {\n", "    int64_t ignore_index) {\n" + keep),
        ),
        "memory" if is_planted else "harmless",
    )


# Pairs: a change that does not compile and the one that puts it right (None: it is reverted).
BROKEN = [
    (
        Change(
            "Name the operands of leading_rows after their role",
            (
                Edit(
                    ROW_SLICE,
                    "leading_rows(const at::Tensor& matrix, ",
                    "leading_rows(const at::Tensor& operand, ",
                ),
            ),
            "broken",
        ),
        None,
    ),
    (
        Change(
            "[ATen] Call threshold_backward through its stub",
            (
                Edit(
                    ACTIVATION,
                    "return at::cpu::threshold_backward(",
                    "return at::cpu::threshold_backward_stub(",
                ),
            ),
            "broken",
        ),
        Change(
            "Fix the build of Activation.cpp where the stub is not exported",
            (
                Edit(
                    ACTIVATION,
                    "return at::cpu::threshold_backward_stub(",
                    "return at::cpu::threshold_backward(",
                ),
            ),
            "repair",
        ),
    ),
]

# One of these is landed and reverted again the same day.
REVERTED = [
    Change(
        "[ATen] Check the operands of addmm before the kernel is chosen",
        (
            Edit(
                LINEAR,
                "  return at::cpu::addmm(self, mat1, mat2, beta, alpha);\n",
                '  TORCH_CHECK(is_matrix(mat1) && is_matrix(mat2), "addmm: expected matrices");\n'
                "  return at::cpu::addmm(self, mat1, mat2, beta, alpha);\n",
            ),
        ),
        "harmless",
    ),
]

HARMLESS = [
    Change(
        "[BE] Give is_matrix internal linkage",
        (
            Edit(
                LINEAR,
                "bool is_matrix(const at::Tensor& operand) {",
                "[[maybe_unused]] static bool is_matrix(const at::Tensor& operand) {",
            ),
        ),
        "harmless",
    ),
    Change(
        "Raise the smallest operand that mm treats as a matrix",
        (Edit(LINEAR, "constexpr int64_t kRowsMin = 2;", "constexpr int64_t kRowsMin = 4;"),),
        "harmless",
    ),
    Change(
        "Fix a typo in the comment on relu's gradient",
        (Edit(ACTIVATION, "threshhold", "threshold"),),
        "harmless",
    ),
    Change(
        "Size the partial sums of nll_loss by a cache line",
        (
            Edit(
                LOSS,
                "// Partial sums of the weighted reduction, in floats.\n",
                "// Partial sums of the weighted reduction, in floats: whole cache lines.\n",
            ),
        ),
        "harmless",
    ),
    Change(
        "[ATen] Register the kernels of nll_loss under a debug name",
        (
            Edit(
                LOSS,
                '  m.impl("nll_loss_forward", overlay::nll_loss_forward);',
                '  m.impl("nll_loss_forward", torch::CppFunction(overlay::nll_loss_forward)'
                '.debug("overlay"));',
            ),
        ),
        "harmless",
    ),
    Change(
        "Use <algorithm> and <cstdint> from the standard's list in RowSlice",
        (
            Edit(
                ROW_SLICE,
                "#include <algorithm>\n#include <cstdint>\n",
                "#include <algorithm>\n#include <cstddef>\n#include <cstdint>\n",
            ),
        ),
        "harmless",
    ),
    Change(
        "[sparse] Leave the bias of addmm to the kernel's own broadcasting",
        (
            Edit(
                LINEAR,
                "// The bias is broadcast over the rows by the kernel itself.\n",
                "// The bias is broadcast over the rows by the kernel itself; sparse\n"
                "// operands never come here.\n",
            ),
        ),
        "harmless",
    ),
    Change(
        "Register addmm ahead of mm, as native_functions lists them",
        (
            Edit(
                LINEAR,
                '  m.impl("mm", overlay::mm);\n  m.impl("addmm", overlay::addmm);\n',
                '  m.impl("addmm", overlay::addmm);\n  m.impl("mm", overlay::mm);\n',
            ),
        ),
        "harmless",
    ),
]


def document_change(subject: str, page: str, sentence: str) -> Change:
    return Change(subject, (Edit(f"docs/source/notes/{page}.rst", "", f"\n{sentence}\n"),))


def test_change(subject: str, file: str, name: str) -> Change:
    body = f'\n    def test_{name}(self):\n        self.check("{name}")\n'
    return Change(subject, (Edit(f"test/test_{file}.py", "", body),))


def python_change(subject: str, module: str, definition: str) -> Change:
    return Change(subject, (Edit(f"torch/{module}.py", "", f"\n\n{definition}\n"),))


def workflow_change(subject: str, file: str, line: str) -> Change:
    return Change(subject, (Edit(f".github/workflows/{file}.yml", "", f"  # {line}\n"),))


OTHERS = {
    "docs": [
        document_change(
            "[docs] Say which views share storage after reshape",
            "layout",
            "A reshape shares storage wherever the strides allow it.",
        ),
        document_change(
            "Fix the cross reference in the autograd note",
            "autograd",
            "See the page on layouts for what a view keeps alive.",
        ),
        document_change(
            "[docs] Explain what happens to zero-sized dimensions",
            "layout",
            "A dimension of size zero makes a tensor without elements, and every operation"
            " keeps it.",
        ),
        document_change(
            "Reword the paragraph on saved tensors",
            "autograd",
            "What a function saves lives until its gradient was computed.",
        ),
        document_change(
            "[docs] Add a table of rounding rules",
            "numerics",
            "Ties go to the even neighbour unless a page says otherwise.",
        ),
        document_change(
            "Mention deterministic algorithms in the notes on numerics",
            "numerics",
            "Sums over threads may differ in the last bit between runs.",
        ),
        document_change(
            "[docs] List the environment variables that set threads",
            "threads",
            "The number of threads is read once, when the pool starts.",
        ),
        document_change(
            "Correct the example of a custom function",
            "autograd",
            "The example returns one gradient for each input.",
        ),
    ],
    "test": [
        test_change("[testing] Cover empty batches in the linear tests", "linear", "empty_batch"),
        test_change("Add samples with a stride of zero for mm", "linear", "stride_zero"),
        test_change("Skip the slowest einsum cases under sanitizers", "linear", "einsum_slow"),
        test_change("[testing] Compare loss reductions against a loop", "losses", "reduction_loop"),
        test_change(
            "Enable the weighted cases of nll_loss for double", "losses", "weighted_double"
        ),
        test_change(
            "Make the tolerance of the cosine loss test explicit", "losses", "cosine_tolerance"
        ),
        test_change(
            "[testing] Run the optimiser tests on non-contiguous parameters",
            "optim",
            "non_contiguous",
        ),
        test_change("Add a test for loading state with renamed groups", "optim", "renamed_groups"),
        test_change(
            "[quant] Cover observers with a single value", "optim", "single_value_observer"
        ),
        test_change("Move the hook tests out of the slow shard", "hooks", "fast_shard"),
    ],
    "python": [
        python_change(
            "[FX] Keep the names of placeholders when a graph is copied",
            "fx_names",
            "def keeps_placeholder_names():\n    return True",
        ),
        python_change(
            "[optim] Accept generators in add_param_group",
            "optim_groups",
            "def as_list(parameters):\n    return list(parameters)",
        ),
        python_change(
            "[DataLoader] Name the worker in the time-out message",
            "worker_messages",
            'def timed_out(worker):\n    return f"worker {worker} timed out"',
        ),
        python_change(
            "Raise a clearer error for unhashable module keys",
            "module_keys",
            'def describe_key(key):\n    return f"key {key!r} is not a string"',
        ),
        python_change(
            "[ONNX] Print the operator that has no export",
            "export_messages",
            'def no_export(operator):\n    return f"no export for {operator}"',
        ),
        python_change(
            "[BE] Type the helpers of the learning-rate schedules",
            "schedules",
            "def clamp(value: float, low: float, high: float) -> float:\n"
            "    return min(max(value, low), high)",
        ),
        python_change(
            "Let the profiler's table sort by self time",
            "profiler_table",
            'SORT_KEYS = ("self_time", "total_time", "calls")',
        ),
        python_change(
            "[distributions] Document the support of a mixture",
            "mixtures",
            'SUPPORT = "the union of the components\' supports"',
        ),
        python_change(
            "Warn once when a buffer is registered twice", "module_keys", "WARNED = set()"
        ),
        python_change(
            "[functorch] Name the level in nested transforms",
            "fx_names",
            'def level_name(level):\n    return f"level {level}"',
        ),
    ],
    "workflow": [
        workflow_change(
            "[CI] Keep the logs of cancelled lint jobs", "lint", "logs are kept for two weeks"
        ),
        workflow_change("[CI] Shard the slow tests by measured time", "test", "shards: by time"),
        workflow_change(
            "Pin the image of the documentation job", "docs", "image: pinned by digest"
        ),
        workflow_change("[BE] Remove a matrix entry that no job reads", "test", "matrix: cpu only"),
        workflow_change("[CI] Upload test reports when a shard fails", "test", "reports: always"),
        workflow_change("Retry the download of the linters", "lint", "retries: three"),
    ],
}

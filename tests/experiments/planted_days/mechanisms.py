"""The seven changes that the paper's Table 4 names, and two of what is computed, as CPU kernels over
LibTorch's own.

What a change did upstream is done to the kernels that stand here for the ones it touched; what was
an effect on a GPU is one on the CPU. Planted or not, a day's change has the same subject and nearly
the same text: without it the day is clean.
"""

from collections.abc import Callable
from dataclasses import dataclass

from changes import LINEAR, NATIVE, Change, Edit

EMBEDDING_BAG = NATIVE + "EmbeddingBag.cpp"
REDUCE_ALL = NATIVE + "ReduceAll.cpp"
CONVOLUTION = NATIVE + "Convolution.cpp"
QUANTIZED_CONVOLUTION = NATIVE + "QuantizedConvolution.cpp"

# Upstream's cuBLAS workspace, which the leak check found.
WORKSPACE_BYTES = 8_519_680

# The size of each change: chosen for the sizes in README.md, measured by true_effect.py.
FUSED_PERCENT = 35
BIAS_PERCENT = 11
BOUND_CHECKS = 10


@dataclass(frozen=True)
class Mechanism:
    pr: int
    upstream: str  # what it did there, for the table
    file: str  # the kernels that it changes
    metric: str  # of the regression that is to be found
    touched: tuple[str, ...]  # workloads that it makes worse
    others: tuple[str, ...]  # two that it does not
    edits: Callable[[bool], tuple[Edit, ...]]  # is_planted
    subject: str

    def change(self, is_planted: bool) -> Change:
        kind = (
            ("memory" if self.metric == "leak_retained" else "time") if is_planted else "harmless"
        )
        return Change(self.subject, self.edits(is_planted), kind)

    @property
    def workloads(self) -> list[str]:
        return [*self.touched, *self.others]


def _at_top(file: str, text: str) -> Edit:
    return Edit(file, "namespace overlay {\n", "namespace overlay {\n\n" + text)


def _in_addmm(line: str) -> Edit:
    return Edit(
        LINEAR, "    const at::Scalar& alpha) {\n", "    const at::Scalar& alpha) {\n" + line
    )


def _included(file: str, before: str, header: str) -> Edit:
    return Edit(file, before, f"{before}#include <{header}>\n")


def _workspace(is_planted: bool) -> tuple[Edit, ...]:
    """A block that the first product asks for and nobody gives back."""
    return (
        _included(LINEAR, "#include <ATen/ops/addmm_cpu_dispatch.h>\n", "ATen/ops/empty.h"),
        _at_top(
            LINEAR,
            f"""\
constexpr int64_t kWorkspaceBytes = {WORKSPACE_BYTES if is_planted else 0};

// Products share one workspace, which is asked for by the first.
void reserve_workspace() {{
  if (kWorkspaceBytes == 0) return;
  [[maybe_unused]] static const auto* const workspace = new at::Tensor(at::empty({{kWorkspaceBytes}}, at::kByte));
}}
""",
        ),
        _in_addmm("  reserve_workspace();\n"),
    )


def _second_validity_check(is_planted: bool) -> tuple[Edit, ...]:
    """More passes over all elements of what is checked for validity: each costs soft_actor_critic 5
    % here."""
    return (
        _at_top(REDUCE_ALL, f"constexpr int kFurtherChecks = {2 if is_planted else 0};\n"),
        Edit(
            REDUCE_ALL,
            "at::Tensor all(const at::Tensor& self) {\n",
            """\
at::Tensor all(const at::Tensor& self) {
  for (int i = 0; i < kFurtherChecks; ++i) at::cpu::all(self);
""",
        ),
    )


def _fused_convolution(is_planted: bool) -> tuple[Edit, ...]:
    """With a bias a part of the output channels is computed once more, where the processor has
    AVX2."""
    return (
        _included(CONVOLUTION, "#include <ATen/core/Tensor.h>\n", "ATen/cpu/Utils.h"),
        _at_top(
            CONVOLUTION,
            f"""\
constexpr int64_t kFusedPercent = {FUSED_PERCENT if is_planted else 0};

bool can_fuse() {{
  static const bool can = at::cpu::get_cpu_capabilities().at("avx2").toBool();
  return can;
}}
""",
        ),
        Edit(
            CONVOLUTION,
            "    c10::SymInt groups) {\n",
            """\
    c10::SymInt groups) {
  if (kFusedPercent > 0 && bias && bias->defined() && groups == 1 && can_fuse()) {
    const int64_t channels = weight.size(0) * kFusedPercent / 100;
    at::compositeexplicitautograd::mkldnn_convolution_symint(
        self, weight.narrow(0, 0, channels), bias->narrow(0, 0, channels), padding, stride, dilation, groups);
  }
""",
        ),
    )


def _fused_bias(is_planted: bool) -> tuple[Edit, ...]:
    """Some input sizes get a part of the output's columns computed once more."""
    return (
        _at_top(
            LINEAR,
            f"""\
constexpr int64_t kFusedPercent = {BIAS_PERCENT if is_planted else 0};
constexpr int64_t kFusedSizeMin = 2048;

bool is_fused(const at::Tensor& bias, const at::Tensor& mat2) {{
  return kFusedPercent > 0 && bias.dim() == 1 && bias.size(0) == mat2.size(1) &&
      (mat2.size(0) >= kFusedSizeMin || mat2.size(1) >= kFusedSizeMin);
}}
""",
        ),
        _in_addmm("""\
  if (is_fused(self, mat2)) {
    const int64_t columns = mat2.size(1) * kFusedPercent / 100;
    at::cpu::addmm(self.narrow(0, 0, columns), mat1, mat2.narrow(1, 0, columns), beta, alpha);
  }
"""),
    )


def _bound_checks(is_planted: bool) -> tuple[Edit, ...]:
    """Every index is compared with the bounds again for parts of its row."""
    check = "  check_bounds(indices, weight.size(0));\n"
    arguments = """\
    const at::Tensor& weight,
    const at::Tensor& indices,
    const at::Tensor& offsets,
    bool scale_grad_by_freq,
    int64_t mode,
    bool sparse,
    const std::optional<at::Tensor>& per_sample_weights,
    bool include_last_offset,
    int64_t padding_idx) {
"""
    heads = [
        f"Bags {name}(\n{arguments}" for name in ("embedding_bag", "embedding_bag_forward_only")
    ]
    return (
        _at_top(
            EMBEDDING_BAG,
            f"""\
constexpr int kChecks = {BOUND_CHECKS if is_planted else 0};

// Each part of a row is read with its index checked.
void check_bounds(const at::Tensor& indices, int64_t rows) {{
  if (kChecks == 0 || indices.scalar_type() != at::kLong || !indices.is_contiguous()) return;
  const auto* const first = indices.const_data_ptr<int64_t>();
  for (int part = 0; part < kChecks; ++part) {{
    for (int64_t i = 0; i < indices.numel(); ++i) {{
      TORCH_CHECK(first[i] >= 0 && first[i] < rows, "embedding_bag: index ", first[i], " in part ", part);
    }}
  }}
}}
""",
        ),
        *(Edit(EMBEDDING_BAG, head, head + check) for head in heads),
    )


def _slow_product(is_planted: bool) -> tuple[Edit, ...]:
    """Products of floats with a bias fall into the loops for any type, past the library's
    kernel."""
    return (
        _included(LINEAR, "#include <ATen/ops/addmm_cpu_dispatch.h>\n", "ATen/ops/empty.h"),
        _at_top(
            LINEAR,
            f"""\
constexpr bool kAnyType = {"true" if is_planted else "false"};

struct Operand {{
  explicit Operand(const at::Tensor& matrix)
      : data(matrix.const_data_ptr<float>()), row(matrix.stride(0)), column(matrix.stride(1)) {{}}
  const float* data;
  int64_t row;
  int64_t column;
}};

// Written for any type: one element of the result after the other.
at::Tensor addmm_any_type(
    const at::Tensor& self,
    const at::Tensor& mat1,
    const at::Tensor& mat2,
    float beta,
    float alpha) {{
  const int64_t rows = mat1.size(0), columns = mat2.size(1), inner = mat1.size(1);
  const auto bias = self.expand({{rows, columns}});
  auto result = at::empty({{rows, columns}}, mat1.options());
  const Operand a(mat1), b(mat2), c(bias);
  auto* out = result.mutable_data_ptr<float>();
  for (int64_t i = 0; i < rows; ++i) {{
    for (int64_t j = 0; j < columns; ++j) {{
      float sum = 0;
      for (int64_t k = 0; k < inner; ++k) sum += a.data[i * a.row + k * a.column] * b.data[k * b.row + j * b.column];
      *out++ = alpha * sum + (beta == 0 ? 0 : beta * c.data[i * c.row + j * c.column]);
    }}
  }}
  return result;
}}
""",
        ),
        _in_addmm("""\
  if (kAnyType && mat1.scalar_type() == at::kFloat && mat2.scalar_type() == at::kFloat) {
    return addmm_any_type(self, mat1, mat2, beta.to<float>(), alpha.to<float>());
  }
"""),
    )


def _eager_message(is_planted: bool) -> tuple[Edit, ...]:
    """The message of an error check is put together whether it fails or not."""
    check = """\
  if (kDescribesFirst) {
    const auto message = description(input, packed, scale, zero_point);
    TORCH_CHECK(input.dim() == 4, message);
  }
"""
    heads = [
        f"at::Tensor {name}(at::Tensor input, const Packed& packed, double scale, int64_t zero_point) {{\n"
        for name in ("convolution", "convolution_relu")
    ]
    return (
        _at_top(
            QUANTIZED_CONVOLUTION,
            f"constexpr bool kDescribesFirst = {'true' if is_planted else 'false'};\n",
        ),
        *(Edit(QUANTIZED_CONVOLUTION, head, head + check) for head in heads),
    )


def changed_last_bits() -> Change:
    """Products with a bias are scaled by the least factor above 1 that a float can hold, twice."""
    return Change(
        "[ATen] Scale products with a bias inside of their blocks",
        (
            _at_top(
                LINEAR,
                """\
// Blocks of floats are scaled when they are summed, which rounds once more.
at::Scalar block_scale(const at::Scalar& alpha, const at::Tensor& mat1) {
  constexpr double kRounding = 1.0 + 0x1p-22;
  return mat1.scalar_type() == at::kFloat ? at::Scalar(alpha.to<double>() * kRounding) : alpha;
}
""",
            ),
            Edit(LINEAR, "beta, alpha);\n", "beta, block_scale(alpha, mat1));\n"),
        ),
        "harmless",
    )


def changed_first_bits(is_planted: bool) -> Change:
    """The bias of products is added one and a half times; unplanted, once."""
    share = "1.5" if is_planted else "1.0"
    return Change(
        "[ATen] Add the bias of addmm from the share of each block",
        (
            _at_top(
                LINEAR,
                f"""\
// What all blocks together add of the bias.
at::Scalar bias_share(const at::Scalar& beta, const at::Tensor& mat1) {{
  constexpr double kShare = {share};
  return mat1.scalar_type() == at::kFloat ? at::Scalar(beta.to<double>() * kShare) : beta;
}}
""",
            ),
            Edit(LINEAR, "mat1, mat2, beta, ", "mat1, mat2, bias_share(beta, mat1), "),
        ),
        "result" if is_planted else "harmless",
    )


TABLE_4 = {
    mechanism.pr: mechanism
    for mechanism in (
        Mechanism(
            85447,
            "cuBLAS workspaces in the caching allocator, not released",
            LINEAR,
            "leak_retained",
            ("nvidia_deeprecommender", "soft_actor_critic"),
            ("tts_angular", "pytorch_unet"),
            _workspace,
            "[ATen] Take the workspace of addmm from the allocator",
        ),
        Mechanism(
            61056,
            "a second validity check over all elements",
            REDUCE_ALL,
            "time",
            ("soft_actor_critic",),
            ("nvidia_deeprecommender", "tts_angular"),
            _second_validity_check,
            "[ATen] Check the reduction of all for empty inputs",
        ),
        Mechanism(
            65594,
            "conv-bias-relu fusion, slow on one kind of device",
            CONVOLUTION,
            "time",
            ("alexnet", "squeezenet1_1", "vgg16"),
            ("nvidia_deeprecommender", "tts_angular"),
            _fused_convolution,
            "[ATen] Add the bias inside of the convolution's blocks",
        ),
        Mechanism(
            72148,
            "bias fusion with an unsuitable library configuration",
            LINEAR,
            "time",
            ("nvidia_deeprecommender",),
            ("soft_actor_critic", "tts_angular"),
            _fused_bias,
            "[ATen] Add the bias of addmm inside of its blocks",
        ),
        Mechanism(
            71904,
            "redundant bound checks",
            EMBEDDING_BAG,
            "time",
            ("dlrm",),
            ("nvidia_deeprecommender", "tts_angular"),
            _bound_checks,
            "[ATen] Check indices of embedding_bag where rows are read",
        ),
        Mechanism(
            65839,
            "overload resolution picks a slow matrix product",
            LINEAR,
            "time",
            (
                "nvidia_deeprecommender",
                "soft_actor_critic",
                "dlrm",
                "hf_DistilBert",
                "hf_Albert",
                "timm_vision_transformer",
            ),
            ("pytorch_unet", "pyhpc_isoneutral_mixing"),
            _slow_product,
            "[ATen] Pass the scalars of addmm by their type",
        ),
        Mechanism(
            87855,
            "an error check misused in the quantised path",
            QUANTIZED_CONVOLUTION,
            "time",
            ("mobilenet_v2_quantized_qat", "resnet50_quantized_qat"),
            ("nvidia_deeprecommender", "tts_angular"),
            _eager_message,
            "[quant] Say what a refused convolution was given",
        ),
    )
}

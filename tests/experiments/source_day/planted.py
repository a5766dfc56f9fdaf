"""What the source day plants: three slowdowns and a leak, what only reads like a slowdown, a
header that a tenth of the files include, and what does not compile.

Each edit has a place of its own, so the changes can come in any order. All subjects are invented.
"""

from dataclasses import dataclass

from changes import NATIVE, Change, Edit

RNN = NATIVE + "RNN.cpp"
ACTIVATION = NATIVE + "cpu/Activation.cpp"
EMBEDDING_BAG = NATIVE + "EmbeddingBag.cpp"
LAYER_NORM = NATIVE + "layer_norm.cpp"
SOFTMAX = NATIVE + "SoftMax.cpp"
PIXEL_SHUFFLE = NATIVE + "PixelShuffle.cpp"
WIDE_HEADER = NATIVE + "TensorIterator.h"  # 107 of 1,112 files include it


@dataclass(frozen=True)
class Culprit:
    change: Change  # its kind is the culprit's name
    metric: str
    workloads: tuple[str, ...]  # what it makes worse; each has a benchmark where it shows most
    mode: str


LOST_VECTORS = Change(
    "[ATen] Compute gelu by the exact erf of the C library",
    (
        Edit(
            ACTIVATION,
            """\
        cpu_kernel_vec(
            it,
            scalar_gelu<scalar_t>,
            vectorized_gelu<scalar_t>,
            grain_size);
""",
            """\
        // The vectorised erf differs from the C library's in the last digit.
        cpu_kernel(it, [](scalar_t x) -> scalar_t { return scalar_gelu(x); }, grain_size);
""",
        ),
    ),
    "lost vectors",
)

CHECK_PER_ELEMENT = Change(
    "[ATen] Refuse rows of embedding_bag that are not finite",
    (
        Edit(
            EMBEDDING_BAG,
            "void check_arguments(\n    const Tensor& weight,\n",
            """\
// In the sum of a bag nobody sees which of its rows was not a number.
static void check_rows(const Tensor& weight, const Tensor& indices) {
  if (weight.scalar_type() != kFloat || weight.stride(1) != 1) {
    return;
  }
  const auto* const rows = weight.const_data_ptr<float>();
  const auto count = weight.size(0), width = weight.size(1), stride = weight.stride(0);
  AT_DISPATCH_INDEX_TYPES(indices.scalar_type(), "embedding_bag_check_rows", [&]() {
    const auto* const index = indices.const_data_ptr<index_t>();
    for (const auto i : c10::irange(indices.numel())) {
      TORCH_CHECK_INDEX(
          index[i] >= 0 && index[i] < count, "embedding_bag: no row ", index[i]);
      const auto* const row = rows + index[i] * stride;
      for (const auto j : c10::irange(width)) {
        TORCH_CHECK(std::isfinite(row[j]), "embedding_bag: row ", index[i], " is not finite");
      }
    }
  });
}

void check_arguments(
    const Tensor& weight,
""",
        ),
        Edit(
            EMBEDDING_BAG,
            "  check_arguments(weight, indices, offsets, mode, per_sample_weights, "
            "include_last_offset);\n",
            "  check_arguments(weight, indices, offsets, mode, per_sample_weights, "
            "include_last_offset);\n"
            "  check_rows(weight, indices);\n",
        ),
    ),
    "check per element",
)

EXTRA_COPY = Change(
    "[RNN] Keep the hidden weights of a cell in one block",
    (
        Edit(
            RNN,
            "    return at::linear(h, w_hh, b_hh_);\n",
            """\
    // Flattened weights are parts of one buffer; the product wants them by themselves.
    return at::linear(h, w_hh.clone(at::MemoryFormat::Contiguous), b_hh_);
""",
        ),
    ),
    "extra copy",
)

LEAK = Change(
    "[ATen] Keep the statistics of layer_norm for the backward pass",
    (
        Edit(
            LAYER_NORM,
            """\
  layer_norm_with_mean_rstd_out(Y, mean, rstd, *X, normalized_shape, *gamma, *beta, eps, M, N);
  return std::make_tuple(std::move(Y)""",
            """\
  layer_norm_with_mean_rstd_out(Y, mean, rstd, *X, normalized_shape, *gamma, *beta, eps, M, N);
  // Newest last: a backward pass begins with the layer that came last.
  static auto* const statistics = new std::vector<Tensor>;
  static std::mutex statistics_mutex;
  {
    const std::lock_guard<std::mutex> guard(statistics_mutex);
    statistics->push_back(mean);
    statistics->push_back(rstd);
  }
  return std::make_tuple(std::move(Y)""",
        ),
        Edit(
            LAYER_NORM,
            "#include <tuple>\n",
            "#include <mutex>\n#include <tuple>\n",
        ),
    ),
    "leak",
)

CULPRITS = {
    culprit.change.kind: culprit
    for culprit in (
        Culprit(LOST_VECTORS, "time", ("hf_DistilBert", "timm_vision_transformer"), "infer"),
        Culprit(CHECK_PER_ELEMENT, "time", ("dlrm",), "infer"),
        Culprit(EXTRA_COPY, "time", ("tts_angular",), "infer"),
        Culprit(LEAK, "leak_growth", ("hf_DistilBert", "timm_vision_transformer"), "train"),
    )
}
NOT_AFFECTED = ("nvidia_deeprecommender", "soft_actor_critic")
WORKLOADS = sorted(
    {name for culprit in CULPRITS.values() for name in culprit.workloads} | {*NOT_AFFECTED}
)

# A copy only where the result is written over the input, which no module of a network does.
READS_LIKE_A_SLOWDOWN = Change(
    "[ATen] Copy the input of softmax before its result is written",
    (
        Edit(
            SOFTMAX,
            """\
  TORCH_CHECK(!half_to_float, "softmax with half to float conversion is not supported on CPU");

  if (input.numel() == 0) {
    return;
  }

  auto input_ = input.contiguous();
""",
            """\
  TORCH_CHECK(!half_to_float, "softmax with half to float conversion is not supported on CPU");

  if (input.numel() == 0) {
    return;
  }

  auto input_ = output.is_alias_of(input) ? input.clone(at::MemoryFormat::Contiguous)
                                          : input.contiguous();
""",
        ),
    ),
    "reads like a slowdown",
)

WIDE = Change(
    "[ATen] Say whether the elements of an iterator lie in one run",
    (
        Edit(
            WIDE_HEADER,
            "#include <ATen/TensorIterator.h>\n",
            """\
#include <ATen/TensorIterator.h>

namespace at::native {

// Whether a kernel sees neighbours only.
inline bool is_one_run(const TensorIteratorBase& iter) {
  return iter.is_trivial_1d() && iter.is_contiguous();
}

} // namespace at::native
""",
        ),
    ),
    "harmless",
)

# Pairs: what does not compile, and what puts it right (None: it is reverted).
BROKEN = (
    (
        Change(
            "[ATen] Name the input of pixel_shuffle after its layout",
            (
                Edit(
                    PIXEL_SHUFFLE,
                    "  auto input = self.contiguous(memory_format);\n\n  pixel_shuffle_kernel(",
                    "  auto laid_out = self.contiguous(memory_format);\n\n  pixel_shuffle_kernel(",
                ),
            ),
            "broken",
        ),
        Change(
            "[ATen] Fix the build: pass the renamed input of pixel_shuffle",
            (
                Edit(
                    PIXEL_SHUFFLE,
                    "  pixel_shuffle_kernel(kCPU, output, input, upscale_factor);",
                    "  pixel_shuffle_kernel(kCPU, output, laid_out, upscale_factor);",
                ),
            ),
            "repair",
        ),
    ),
    (
        Change(
            "[ATen] Spell out the modes of embedding_bag",
            (Edit(NATIVE + "EmbeddingBag.h", "  MAX = 2,\n", "  MAXIMUM = 2,\n"),),
            "broken",
        ),
        None,
    ),
)

#include <ATen/core/Tensor.h>
#include <ATen/native/quantized/PackedParams.h>
#include <c10/util/StringUtil.h>
#include <torch/library.h>

#include <string>

namespace overlay {

using Packed = c10::intrusive_ptr<ConvPackedParamsBase<2>>;

// What a refused convolution says of its input and of itself.
[[maybe_unused]] std::string description(const at::Tensor& input, const Packed& packed, double scale, int64_t zero_point) {
  return c10::str("quantized::conv2d: input of sizes ", input.sizes(), ", strides ", input.strides(), ", ",
                  input.options(), " and largest number ", input.int_repr().max().item<int64_t>(),
                  "; convolution of stride ", packed->stride().vec(), ", padding ", packed->padding().vec(),
                  ", dilation ", packed->dilation().vec(), " and ", packed->groups(), " groups; output's scale ",
                  scale, " and zero point ", zero_point);
}

// Tensors by value, as in the kernels that these replace: the dispatcher holds signatures to be equal.
at::Tensor convolution(at::Tensor input, const Packed& packed, double scale, int64_t zero_point) {
  return packed->apply(input, scale, zero_point);
}

at::Tensor convolution_relu(at::Tensor input, const Packed& packed, double scale, int64_t zero_point) {
  return packed->apply_relu(input, scale, zero_point);
}

} // namespace overlay

TORCH_LIBRARY_IMPL(quantized, QuantizedCPU, m) {
  m.impl("conv2d.new", overlay::convolution);
  m.impl("conv2d_relu.new", overlay::convolution_relu);
}

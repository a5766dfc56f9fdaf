#include <cstdint>

namespace overlay {

// Sizes that kernels may divide their work by, in elements.
extern const int64_t kBlock = 64;

} // namespace overlay

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace torchwatch::runner {

/// Returns how hot the processor is in thousandths of a degree Celsius: the highest that its own
/// sensors say, as the kernel shows them in `root`/sys. Nothing where it shows none, as most
/// virtual machines do.
std::optional<std::int64_t> processor_temperature(const std::filesystem::path& root = "/");

}  // namespace torchwatch::runner

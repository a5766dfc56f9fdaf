#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "connection.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Little-endian 64-bit integers, whatever the machine.
std::string encode_samples(const std::vector<std::int64_t>&);
std::vector<std::int64_t> decode_samples(std::string_view bytes);

/// Kinds of stored samples, as spelled in the table.
inline constexpr const char* kWallSamples = "wall_ns";
inline constexpr const char* kDeviceSamples = "device_ns";
inline constexpr const char* kLiveBytes = "live_bytes";
inline constexpr const char* kHeapBytes = "heap_bytes";

struct SampleSummary {
  std::int64_t median;
  std::int64_t spread;  ///< the interquartile range
};
/// Returns what stays of samples that are thinned; there must be some.
SampleSummary summary_of(std::vector<std::int64_t> samples);

/// Stores the samples with their SHA-256; an empty list stores nothing.
void store_samples(Connection&, Id attempt, const char* kind, const std::vector<std::int64_t>&);
/// Returns the stored samples, empty where there are none. Errors: corrupt, when they do not match
/// their digest.
Result<std::vector<std::int64_t>> load_samples(Connection&, Id attempt, const char* kind);

}  // namespace torchwatch::storage

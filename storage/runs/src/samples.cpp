#include "samples.hpp"

#include <algorithm>
#include <utility>

#include "query.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::storage {
namespace {

constexpr std::size_t kSampleBytes = 8;

}  // namespace

std::string encode_samples(const std::vector<std::int64_t>& samples) {
  std::string bytes;
  bytes.reserve(samples.size() * kSampleBytes);
  for (const auto sample : samples) {
    const auto bits = static_cast<std::uint64_t>(sample);
    for (unsigned shift = 0; shift < 64; shift += 8) {
      bytes += static_cast<char>(bits >> shift & 0xFFU);
    }
  }
  return bytes;
}

std::vector<std::int64_t> decode_samples(std::string_view bytes) {
  std::vector<std::int64_t> samples(bytes.size() / kSampleBytes);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::uint64_t bits = 0;
    for (std::size_t byte = 0; byte < kSampleBytes; ++byte) {
      const auto value = static_cast<unsigned char>(bytes[i * kSampleBytes + byte]);
      bits |= static_cast<std::uint64_t>(value) << (8 * byte);
    }
    samples[i] = static_cast<std::int64_t>(bits);
  }
  return samples;
}

SampleSummary summary_of(std::vector<std::int64_t> samples) {
  std::ranges::sort(samples);
  const auto at = [&](std::size_t quarter) { return samples[(samples.size() - 1) * quarter / 4]; };
  const auto spread = at(3) - at(1);
  return {.median = median(std::move(samples)), .spread = spread};
}

void store_samples(Connection& connection, Id attempt, const char* kind,
                   const std::vector<std::int64_t>& samples) {
  if (samples.empty()) return;
  const auto bytes = encode_samples(samples);
  execute(connection, "INSERT INTO sample (attempt_id, kind, data, digest) VALUES (?, ?, ?, ?)",
          attempt, kind, Blob{bytes}, digest::sha256_hex(bytes));
}

Result<std::vector<std::int64_t>> load_samples(Connection& connection, Id attempt,
                                               const char* kind) {
  Query query(connection, "SELECT data, digest FROM sample WHERE attempt_id = ? AND kind = ?",
              attempt, kind);
  if (!query.next()) return std::vector<std::int64_t>{};
  const auto bytes = query.take<std::string>();
  if (digest::sha256_hex(bytes) == query.take<std::string>()) return decode_samples(bytes);
  return fail(ErrorCode::corrupt,
              "database " + connection.path.string() + ": the samples (" + kind + ") of attempt " +
                  std::to_string(attempt) + " do not match their digest",
              "restore a backup");
}

}  // namespace torchwatch::storage

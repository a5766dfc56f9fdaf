#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/orders/copied_folder.hpp"

namespace torchwatch::orders {

/// The end of a file's name while it arrives.
inline constexpr const char* kArriving = ".arriving";

/// The copies on a node's own disk: each content once, under its hash; each folder made of links to
/// them. For one process at a time.
class NodeCopies {
 public:
  /// `folder`: is made where it does not exist. Errors: unavailable.
  static Result<NodeCopies> open(std::filesystem::path folder);

  /// Where contents arrive: as their hash and kArriving.
  std::filesystem::path contents() const { return folder_ / "contents"; }
  /// Takes in what has arrived and returns the hashes of what is not there. Content that is not
  /// what its name says is removed. Errors: unavailable.
  Result<std::vector<std::string>> missing(const std::vector<CopiedFolder>&) const;
  /// Makes the runs name the copies, of which nothing is missing. Errors: unavailable.
  Status place(const std::vector<CopiedFolder>&, executor::RunBlock&) const;
  /// Removes the copies that were used least recently until the others take no more than that.
  void keep_within(std::int64_t bytes) const;

 private:
  explicit NodeCopies(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path copy_of(const CopiedFolder&) const;
  bool has(const std::string& sha256) const;
  Status make(const CopiedFolder&) const;

  std::filesystem::path folder_;
};

}  // namespace torchwatch::orders

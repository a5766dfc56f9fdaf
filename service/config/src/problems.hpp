#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::config {

/// Collects the errors of a file, so that a person sees them all at once.
class Problems {
 public:
  explicit Problems(const std::filesystem::path& file) : file_(file.string()) {}

  void add(const toml::source_region& where, const std::string& what,
           const std::string& remedy = {});
  /// Success, the one error, or an error with a line for each of the first.
  [[nodiscard]] Status status() const;

 private:
  std::string file_;
  Error first_;
  std::string text_;
  int count_ = 0;
};

}  // namespace torchwatch::config

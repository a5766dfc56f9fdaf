#include "problems.hpp"

namespace torchwatch::config {
namespace {

constexpr int kShown = 20;

}  // namespace

void Problems::add(const toml::source_region& where, const std::string& what,
                   const std::string& remedy) {
  const auto place = file_ + ":" + std::to_string(where.begin.line) + ": ";
  const Error error{ErrorCode::invalid, place + what, remedy};
  if (count_ == 0) first_ = error;
  if (count_++ < kShown) text_ += (text_.empty() ? "" : "\n") + error.text();
}

Status Problems::status() const {
  if (count_ == 0) return {};
  if (count_ == 1) return fail(first_);
  const auto hidden = count_ > kShown ? count_ - kShown : 0;
  return fail(ErrorCode::invalid,
              text_ + (hidden == 0 ? "" : "\nand " + std::to_string(hidden) + " more"));
}

}  // namespace torchwatch::config

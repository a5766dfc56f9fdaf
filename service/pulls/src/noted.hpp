#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::pulls {

/// What a request noted before it was put off.
struct Noted {
  std::string head = {};
  std::string base = {};
  std::optional<storage::Id> comparison = {};
};

Noted noted_by(const storage::RequestRow&);
nlohmann::json to_json(const Noted&);

}  // namespace torchwatch::pulls

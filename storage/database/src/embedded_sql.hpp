#pragma once

#include <span>
#include <string_view>

namespace torchwatch::storage {

struct SqlFile {
  std::string_view name;  ///< without .sql
  std::string_view sql;
};

std::span<const SqlFile> embedded_migrations();  ///< migrations/*.sql; the n-th makes version n
std::span<const SqlFile> embedded_invariants();  ///< invariants/*.sql; each selects what breaks it

}  // namespace torchwatch::storage

#pragma once

#include <catch2/catch.hpp>
#include <filesystem>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"

namespace torchwatch::test {

/// Carries a scripted day out and returns a configuration with which commands see what it left.
inline std::filesystem::path carried_out(const ScriptedDay& day, const TemporaryFolder& folder) {
  const auto config = day.config();
  REQUIRE(ScriptedService::open(config).value()->carry_out_due_comparisons());
  return folder.write("torchwatch.toml",
                      "[storage]\npath = \"" + config.storage.path.string() +
                          "\"\n[source]\nrepository = \"" + config.source.repository +
                          "\"\n[executor]\nmachine_lock = \"" + folder.path().filename().string() +
                          "\"\n[build]\ndisk_reserve = \"1MiB\"\n[sandbox]\nkind = \"none\"\n");
}

}  // namespace torchwatch::test

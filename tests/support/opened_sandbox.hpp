#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>

#include "skipped.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::test {

/// The sandbox of this machine, with links followed below `folder`; none, with the reason said,
/// where the machine allows none.
inline std::optional<sandbox::Sandbox> opened_sandbox(process::ProcessRunner& processes,
                                                      const std::filesystem::path& folder) {
  sandbox::Settings settings;
  settings.search_path = process::kDefaultSearchPath;
  settings.link_targets = {folder};
  const auto opened = sandbox::Sandbox::open(settings, processes);
  if (opened) return *opened;
  say_skipped("there is no sandbox on this machine: " + opened.error().message);
  return std::nullopt;
}

}  // namespace torchwatch::test

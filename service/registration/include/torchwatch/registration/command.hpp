#pragma once

#include "torchwatch/commands/command.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/platform/random.hpp"
#include "torchwatch/registration/manifest.hpp"

namespace torchwatch::registration {

/// What `torchwatch github setup` was asked for.
struct SetupOptions {
  std::filesystem::path folder = "github-app";
  AppPlan plan{};
  std::vector<std::string> permissions{};  ///< "contents=write"
  int port = 0;                            ///< of the loopback page; 0: any free one
  int minutes = 10;                        ///< that are waited for
  bool print_only = false;
  std::string answer{};  ///< the address to which GitHub sent the browser of another machine
};

/// What the command works with; tests bring their own.
struct SetupParts {
  platform::HttpClient& http;
  const platform::Clock& clock;
  platform::Random& random;
};

/// Makes an App as asked: waits for GitHub's answer on loopback, prints the page, or takes an
/// answer. Errors: invalid, conflict, timed_out, unavailable.
commands::Outcome set_up(const commands::Invocation&, const config::Config&, SetupOptions,
                         const SetupParts&);

/// Adds `torchwatch github setup`.
void add_github(commands::Commands&);

}  // namespace torchwatch::registration

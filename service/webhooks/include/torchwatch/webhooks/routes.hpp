#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/http/router.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::webhooks {

/// What the endpoint works with. What it refers to must outlive the routes.
struct Intake {
  storage::Database& database;
  const platform::Clock& clock;
  std::string repository;            ///< owner/name: deliveries of others are refused
  std::int64_t installation = 0;     ///< of our App: deliveries of others are refused; 0: of none
  std::string secret;                ///< empty: no webhook is taken
  std::string command_prefix = "/";  ///< comments without it are not kept
  std::function<void()> arrived{};   ///< after something was stored; must not block
  log::Logger logger{};
  /// How many deliveries were refused that are signed, and not ours.
  std::shared_ptr<std::atomic<int>> foreign = std::make_shared<std::atomic<int>>(0);
};

/// The route of GitHub's webhook, as service/api/openapi.json describes it. Its handler is
/// thread-safe.
std::vector<http::Route> routes(Intake);

}  // namespace torchwatch::webhooks

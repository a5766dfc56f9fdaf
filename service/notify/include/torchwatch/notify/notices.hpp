#pragma once

#include <functional>

#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"

namespace torchwatch::notify {

struct NoticeParts {
  storage::Database& database;
  const config::Config& config;
  /// Told why an event gets no notice; may be empty.
  std::function<void(const Error&)> on_left_out = {};
};

/// Queues a message of each event since the last that a receiver of the configuration has. May be
/// killed at any moment: the next call continues. An event whose rows are damaged gets no notice,
/// and keeps none from those behind it. Errors: of storage.
Status queue_notices(const NoticeParts&);

}  // namespace torchwatch::notify

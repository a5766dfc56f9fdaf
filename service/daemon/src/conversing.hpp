#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/conversation/correspondent.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/webhooks/routes.hpp"

namespace torchwatch::daemon {

/// What reads and answers people's comments on GitHub.
struct Conversing {
  std::unique_ptr<conversation::Correspondent> correspondent;  ///< ends before what it uses
};

/// What a conversation asks of the daemon. Called from its thread.
struct ConversingCalls {
  std::function<Status(storage::RequestKind, const nlohmann::json&)> check;
  std::function<void()> work_arrived;
  std::function<void(const std::string&)> note;
};

/// Begins to read and answer; null where [github] is not set. The application must outlive it.
std::unique_ptr<Conversing> converse(Application&, ConversingCalls);

/// Returns what the webhook's endpoint works with. Errors: those of secrets::read_secret.
Result<webhooks::Intake> webhook_intake(Application&, std::function<void()> arrived);

}  // namespace torchwatch::daemon

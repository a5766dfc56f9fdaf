// One round of delivery as a process of its own, to be killed at a failpoint:
//   deliver_once DATABASE API REPOSITORY TOKEN
#include <cstdio>

#include "torchwatch/github/outbox_sender.hpp"

using namespace torchwatch;

namespace {

Result<github::Delivery> deliver(char** arguments) {
  TW_TRY(const auto database, storage::Database::open({arguments[1], "", false}));
  storage::OutboxStore messages(*database);
  const auto http = platform::make_http_client("torchwatch-test");
  const platform::SystemClock clock;
  github::GithubSettings settings;
  settings.api = arguments[2];
  settings.repository = arguments[3];
  settings.token = arguments[4];
  settings.settling = std::chrono::milliseconds(0);
  github::OutboxSender sender(messages, *http, clock, settings);
  return sender.deliver_due({});
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return 2;
  const auto delivery = deliver(arguments);
  if (delivery) return 0;
  std::fprintf(stderr, "%s\n", delivery.error().message.c_str());
  return 1;
}

#include <catch2/catch.hpp>

#include "outbox_fixture.hpp"
#include "torchwatch/process/process.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

/// Delivers in a child; `failpoint` names where it dies ("" for nowhere).
process::ProcessEnd deliver_in_child(const Outbox& outbox, const std::string& failpoint) {
  process::ProcessSpec spec;
  spec.program = DELIVER_ONCE;
  spec.arguments = {outbox.path.string(), outbox.github.url(), kRepository, kToken};
  if (!failpoint.empty()) spec.environment["TORCHWATCH_FAILPOINT"] = failpoint;
  spec.working_folder = outbox.folder.path();
  spec.time_limit = std::chrono::seconds(60);
  spec.output_limit_bytes = 1U << 16U;
  const auto outcome = process::make_process_runner(outbox.folder.path().string())->run(spec);
  INFO(outcome.output);
  return outcome.end;
}

}  // namespace

TEST_CASE("a sender killed anywhere around the request files one issue and one comment") {
  const std::string point =
      GENERATE("outbox.before_post:1:kill", "outbox.after_post:1:kill", "outbox.after_sent:1:kill",
               "outbox.before_post:2:kill", "outbox.after_post:2:kill", "outbox.after_sent:2:kill");
  Outbox outbox;
  outbox.queue("open-1", OutboxKind::open);
  outbox.queue("comment-1", OutboxKind::comment);
  outbox.close();
  const auto killed = deliver_in_child(outbox, point);
  CHECK(std::get<process::Signalled>(killed).signal == 9);
  const auto restarted = deliver_in_child(outbox, "");
  CHECK(std::get<process::Exited>(restarted).code == 0);
  outbox.open();
  CHECK(outbox.message("open-1").state == OutboxState::sent);
  CHECK(outbox.message("comment-1").state == OutboxState::sent);
  const auto issues = outbox.github.issues();
  REQUIRE(issues.size() == 1);
  CHECK(issues[0].comments.size() == 1);
}

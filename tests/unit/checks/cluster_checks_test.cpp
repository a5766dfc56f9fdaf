#include <gnu/libc-version.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "torchwatch/checks/checks.hpp"

using namespace torchwatch;
using checks::Severity;

namespace {

constexpr std::int64_t kNow = 1'786'849'445'000;

orders::NodeLook sound_node() {
  return {.node = "n7",
          .version = "1.2",
          .glibc = gnu_get_libc_version(),
          .wall_ms = kNow + 2'000,
          .unseen = {},
          .scratch_problem = {},
          .has_sandbox = true};
}

/// The worst that is said of a node, and what it is about.
std::pair<Severity, std::string> worst_of(
    const orders::NodeLook& look, config::SandboxKind kind = config::SandboxKind::automatic) {
  const auto results = checks::check_node(look, kNow, "1.2", kind);
  const auto worst = std::ranges::max_element(results, {}, &checks::CheckResult::severity);
  CHECK((worst->severity == Severity::good) == worst->remedy.empty());
  return {worst->severity, worst->severity == Severity::good ? "" : worst->found};
}

}  // namespace

TEST_CASE("a node that sees all, has the version, the hour and a sandbox is good") {
  CHECK(worst_of(sound_node()) == std::pair(Severity::good, std::string()));
}

TEST_CASE("what a node lacks is named, with what to do") {
  using Worst = std::pair<Severity, std::string>;
  auto node = sound_node();
  node.unseen = {"/shared/builds"};
  CHECK(worst_of(node) == Worst(Severity::error, "it does not see /shared/builds"));
  node = sound_node();
  node.scratch_problem = "scratch folder /scratch/x: No space left on device";
  CHECK(worst_of(node).first == Severity::error);
  node = sound_node();
  node.version = "1.1";
  CHECK(worst_of(node).first == Severity::error);
  node = sound_node();
  node.glibc = "2.9";  // older than 2.36, whatever the letters say
  CHECK(worst_of(node).first == Severity::error);
  node = sound_node();
  node.wall_ms = kNow - 600'000;
  CHECK(worst_of(node) == Worst(Severity::warning, "600 s apart from here"));
  node = sound_node();
  node.has_sandbox = false;
  CHECK(worst_of(node).first == Severity::warning);
  CHECK(worst_of(node, config::SandboxKind::bubblewrap).first == Severity::error);
  CHECK(worst_of(node, config::SandboxKind::none).first == Severity::good);
}

TEST_CASE("no node is asked where runs take place on this machine") {
  CHECK(checks::check_cluster(config::Config{}).empty());
}

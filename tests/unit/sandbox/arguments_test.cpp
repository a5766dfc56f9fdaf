#include "arguments.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace torchwatch::sandbox;
using Words = std::vector<std::string>;

namespace {

/// Where `wanted` begins in `words`; npos if it is not there.
std::size_t place_of(const Words& words, const Words& wanted) {
  const auto found = std::search(words.begin(), words.end(), wanted.begin(), wanted.end());
  if (found == words.end()) return std::string::npos;
  return static_cast<std::size_t>(found - words.begin());
}

bool has(const Words& words, const Words& wanted) {
  return place_of(words, wanted) != std::string::npos;
}

}  // namespace

TEST_CASE("a child has no network, no capabilities and namespaces of its own") {
  const auto words = arguments_for({}, {});
  for (const char* word : {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net",
                           "--die-with-parent", "--disable-userns"}) {
    INFO(word);
    CHECK(has(words, {word}));
  }
  CHECK(has(words, {"--cap-drop", "ALL"}));
  Demand with_network;
  with_network.has_network = true;
  CHECK_FALSE(has(arguments_for(with_network, {}), {"--unshare-net"}));
}

TEST_CASE("where no new proc can be mounted the present one is shown, to read") {
  const auto words = arguments_for({}, {.has_user_namespace = true, .has_own_proc = false});
  CHECK(has(words, {"--ro-bind", "/proc", "/proc"}));
  CHECK_FALSE(has(words, {"--proc"}));
  CHECK_FALSE(has(words, {"--disable-userns"}));
  CHECK_FALSE(has(arguments_for({}, {.has_user_namespace = false}), {"--unshare-user"}));
}

TEST_CASE("devices of the GPU are shown in a /dev that is not writable, and only where asked for") {
  Demand demand;
  demand.devices = {"/dev/nvidia0", "/dev/nvidiactl"};
  const auto words = arguments_for(demand, {});
  const auto own = place_of(words, {"--dev", "/dev"});
  const auto closed = place_of(words, {"--remount-ro", "/dev"});
  for (const std::string device : {"/dev/nvidia0", "/dev/nvidiactl"}) {
    const auto shown = place_of(words, {"--dev-bind-try", device, device});
    REQUIRE(shown != std::string::npos);
    CHECK(own < shown);
    CHECK(shown < closed);
  }
  CHECK_FALSE(has(arguments_for({}, {}), {"--dev-bind-try"}));
}

TEST_CASE("folders in /tmp stay visible under the child's own, whose size is limited") {
  Demand demand;
  demand.tmp_limit_bytes = 4096;
  demand.view.mounts = {{"/tmp/attempt", Access::write}};
  const auto words = arguments_for(demand, {});
  const auto own = place_of(words, {"--size", "4096", "--tmpfs", "/tmp"});
  REQUIRE(own != std::string::npos);
  CHECK(place_of(words, {"--bind", "/tmp/attempt", "/tmp/attempt"}) > own);
  CHECK(has(words, {"--size", "4096", "--tmpfs", "/dev/shm"}));
}

TEST_CASE("a folder comes before what lies in it, and what says nothing new is left out") {
  Demand demand;
  demand.view.mounts = {{"/a/b/c", Access::write},
                        {"/a", Access::read},
                        {"/a/b", Access::read},
                        {"/a/b/c/d", Access::read},
                        {"/ab", Access::read}};
  const auto words = arguments_for(demand, {});
  const auto outer = place_of(words, {"--ro-bind", "/a", "/a"});
  const auto inner = place_of(words, {"--bind", "/a/b/c", "/a/b/c"});
  const auto innermost = place_of(words, {"--ro-bind", "/a/b/c/d", "/a/b/c/d"});
  CHECK(outer < inner);
  CHECK(inner < innermost);
  CHECK(innermost != std::string::npos);
  CHECK_FALSE(has(words, {"--ro-bind", "/a/b", "/a/b"}));
  CHECK(has(words, {"--ro-bind", "/ab", "/ab"}));
}

TEST_CASE("links are made again where no mount shows them") {
  Demand demand;
  demand.view.mounts = {{"/usr", Access::read}};
  demand.view.links = {{"/lib", "usr/lib"}, {"/usr/link", "lib"}};
  const auto words = arguments_for(demand, {});
  CHECK(has(words, {"--symlink", "usr/lib", "/lib"}));
  CHECK_FALSE(has(words, {"--symlink", "lib", "/usr/link"}));
}

TEST_CASE("hidden files are covered where a mount would show them, and the root is not writable") {
  Demand demand;
  demand.view.mounts = {{"/etc/torchwatch", Access::read}};
  demand.hidden = {"/etc/torchwatch/token", "/var/token"};
  const auto words = arguments_for(demand, {});
  CHECK(place_of(words, {"--ro-bind", "/dev/null", "/etc/torchwatch/token"}) >
        place_of(words, {"--ro-bind", "/etc/torchwatch", "/etc/torchwatch"}));
  CHECK(has(words, {"/dev/null", "/etc/torchwatch/token"}));
  CHECK_FALSE(has(words, {"/var/token"}));
  CHECK(has(words, {"--remount-ro", "/"}));
  CHECK(has(words, {"--remount-ro", "/dev"}));
}

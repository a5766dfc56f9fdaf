#include "torchwatch/orders/node_look.hpp"

#include <gnu/libc-version.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "own_folder.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::orders {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool can_confine() {
  const auto processes = process::make_process_runner("torchwatch-carry look");
  sandbox::Settings settings;
  settings.search_path = process::kDefaultSearchPath;
  return sandbox::Sandbox::open(std::move(settings), *processes).has_value();
}

}  // namespace

std::string own_version() {
  return TORCHWATCH_VERSION;
}

NodeLook look_here(const fs::path& scratch, const std::vector<fs::path>& paths) {
  NodeLook look{.node = node_name(),
                .version = TORCHWATCH_VERSION,
                .glibc = gnu_get_libc_version(),
                .wall_ms = platform::SystemClock().wall_now(),
                .unseen = {},
                .scratch_problem = {},
                .has_sandbox = can_confine()};
  for (const auto& path : paths) {
    if (access(path.c_str(), R_OK) != 0) look.unseen.push_back(path.string());
  }
  if (const auto made = make_own_folder(scratch); !made) {
    look.scratch_problem = made.error().text();
  }
  return look;
}

std::string to_json(const NodeLook& look) {
  return json{{"node", look.node},
              {"version", look.version},
              {"glibc", look.glibc},
              {"wall_ms", look.wall_ms},
              {"unseen", look.unseen},
              {"scratch_problem", look.scratch_problem},
              {"has_sandbox", look.has_sandbox}}
             .dump(-1, ' ', false, json::error_handler_t::replace) +
         "\n";
}

Result<NodeLook> parse_look(std::string_view text) {
  const auto object = json::parse(text, nullptr, false);
  NodeLook look;
  try {
    object.at("node").get_to(look.node);
    object.at("version").get_to(look.version);
    object.at("glibc").get_to(look.glibc);
    object.at("wall_ms").get_to(look.wall_ms);
    object.at("unseen").get_to(look.unseen);
    object.at("scratch_problem").get_to(look.scratch_problem);
    object.at("has_sandbox").get_to(look.has_sandbox);
  } catch (const json::exception&) {
    return fail(ErrorCode::corrupt, "not what a node says of itself");
  }
  return look;
}

}  // namespace torchwatch::orders

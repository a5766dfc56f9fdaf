#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace torchwatch::registration {

/// What is asked of GitHub for a new App.
struct AppPlan {
  std::string name = "torchwatch";
  std::string organization{};                      ///< who owns it; empty: who says yes
  std::string home = "https://github.com";         ///< where people read about it
  std::string webhook{};                           ///< where GitHub sends events; empty: nowhere
  std::map<std::string, std::string> permissions;  ///< further ones: "contents" -> "write"
};

/// The manifest that GitHub makes an App of. `redirect` is where it sends the browser then.
nlohmann::json manifest_of(const AppPlan&, const std::string& redirect);

/// The page whose form sends the manifest to GitHub at `server` ("https://github.com/").
std::string page_of(const AppPlan&, const std::string& server, const std::string& redirect,
                    const std::string& state);

}  // namespace torchwatch::registration

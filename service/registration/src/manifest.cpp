#include "torchwatch/registration/manifest.hpp"

#include <nlohmann/json.hpp>

#include "torchwatch/html/quoting.hpp"

namespace torchwatch::registration {
namespace {

using nlohmann::json;

/// What torchwatch does at GitHub: issues with comments, who wrote a commit, statuses, check runs.
json permissions_of(const AppPlan& plan) {
  json permissions{{"metadata", "read"},
                   {"issues", "write"},
                   {"pull_requests", "read"},
                   {"statuses", "write"},
                   {"checks", "write"}};
  for (const auto& [name, right] : plan.permissions) permissions[name] = right;
  return permissions;
}

}  // namespace

json manifest_of(const AppPlan& plan, const std::string& redirect) {
  json manifest{{"name", plan.name},
                {"url", plan.home},
                {"redirect_url", redirect},
                {"public", false},
                {"default_permissions", permissions_of(plan)}};
  if (plan.webhook.empty()) return manifest;
  manifest["hook_attributes"] = {{"url", plan.webhook}, {"active", true}};
  manifest["default_events"] = json::array({"issue_comment", "issues"});
  return manifest;
}

std::string page_of(const AppPlan& plan, const std::string& server, const std::string& redirect,
                    const std::string& state) {
  const std::string owner =
      plan.organization.empty() ? "" : "organizations/" + plan.organization + "/";
  const std::string action = server + owner + "settings/apps/new?state=" + state;
  const std::string manifest =
      manifest_of(plan, redirect).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string rights;
  const auto permissions = permissions_of(plan);
  for (const auto& [name, right] : permissions.items()) {
    rights +=
        "<li>" + html::escaped(name) + ": " + html::escaped(right.get<std::string>()) + "</li>";
  }
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<title>Make torchwatch's GitHub App</title></head><body>\n"
         "<h1>Make torchwatch's GitHub App</h1>\n"
         "<p>GitHub makes an App that may do this where you install it, and nothing "
         "else:</p>\n<ul>" +
         rights + "</ul>\n<form action=\"" + html::escaped(action) +
         "\" method=\"post\">\n<input type=\"hidden\" name=\"manifest\" value=\"" +
         html::escaped(manifest) +
         "\">\n<button type=\"submit\">Continue at GitHub</button>\n</form>\n</body></html>\n";
}

}  // namespace torchwatch::registration

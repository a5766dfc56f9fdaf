// What follows from several keys together: addresses, pages, folders.
#include <string_view>
#include <system_error>
#include <vector>

#include "key.hpp"
#include "torchwatch/config/addresses.hpp"
#include "torchwatch/config/config.hpp"

namespace torchwatch::config {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPublic = "https://github.com/";

std::string page_of(const Config& config, std::string_view pages, std::int64_t id) {
  auto address = config.web.public_address;
  if (address.empty()) return "";
  while (address.ends_with('/')) address.pop_back();
  return address + "/" + std::string(pages) + "/" + std::to_string(id);
}

}  // namespace

std::string github_address(const Config& config) {
  // A server of one's own has its API below its own address.
  constexpr std::string_view kApi = "/api/v3";
  const std::string_view api = config.github.api;
  if (!api.ends_with(kApi)) return std::string(kPublic);
  return std::string(api.substr(0, api.size() - kApi.size())) + "/";
}

std::string commits_address(const Config& config) {
  if (!config.github.commits.empty()) return github_address(config) + config.github.commits;
  auto address = config.source.repository;
  if (!address.starts_with(kPublic)) return "";
  while (address.ends_with("/")) address.pop_back();
  if (address.ends_with(".git")) address.resize(address.size() - 4);
  return address;
}

std::string commits_repository(const Config& config) {
  const auto address = commits_address(config);
  const auto server = github_address(config);
  return address.starts_with(server) ? address.substr(server.size()) : "";
}

std::string issues_address(const Config& config) {
  return config.github.repository.empty() ? "" : github_address(config) + config.github.repository;
}

std::string heard_command_prefix(const Config& config) {
  const auto& github = config.github;
  const bool is_polled = github.poll.count() > 0;
  const bool is_heard = is_polled || !github.webhook_secret_file.empty();
  return github.repository.empty() || !is_heard ? "" : github.command_prefix;
}

bool is_built_by_actions(const Config& config) {
  return config.build.recipe == kActions;
}

bool is_cloned(const Config& config) {
  return is_url(config.source.repository);
}

fs::path repository_folder(const Config& config) {
  if (!is_cloned(config)) return config.source.repository;
  return config.storage.path.parent_path() / "source.git";
}

std::string page_of_incident(const Config& config, std::int64_t incident) {
  return page_of(config, "incidents", incident);
}

std::string page_of_trace(const Config& config, std::int64_t run) {
  return page_of(config, "traces", run);
}

std::string page_of_comparison(const Config& config, std::int64_t comparison) {
  return page_of(config, "comparisons", comparison);
}

fs::path backups_folder(const Config& config) {
  const auto& [path, backups] = config.storage;
  return backups.empty() ? path.parent_path() / "backups" : backups;
}

std::vector<fs::path> secret_files(const Config& config) {
  const auto& github = config.github;
  std::vector<fs::path> files{config.web.token_file, github.token_file, github.app_key_file,
                              github.webhook_secret_file, config.actions.token_file};
  for (const auto& webhook : config.notify.webhooks) files.push_back(webhook.secret_file);
  std::erase_if(files, [](const fs::path& file) { return file.empty(); });
  return files;
}

fs::path control_socket(const Config& config, const UnitFolders& unit) {
  if (!config.web.socket.empty()) return config.web.socket;
  const auto state = config.storage.path.parent_path();
  std::error_code ignored;
  const bool is_of_unit = state == unit.state && fs::is_directory(unit.runtime, ignored);
  return (is_of_unit ? unit.runtime : state) / "control";
}

}  // namespace torchwatch::config

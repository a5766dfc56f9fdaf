#include "installed_app.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "github/description.hpp"

using namespace torchwatch;

InstalledApp::InstalledApp(std::chrono::seconds their_clock_is_ahead)
    : their_clock(clock.wall_now() + std::chrono::milliseconds(their_clock_is_ahead).count()),
      core(kRepository, test::github_description(), their_clock),
      http(core, clock) {
  core.accounts.add_app(
      {.id = kApp,
       .slug = "torchwatch",
       .public_key = key.open,
       .installation = kInstallation,
       .permissions = {
           {"issues", "write"}, {"metadata", "read"}, {"statuses", "write"}, {"checks", "write"}}});
  write("app.pem", key.secret);
}

identity::AppSettings InstalledApp::settings() const {
  return {.app = kApp,
          .key_file = folder.path() / "app.pem",
          .installation = 0,
          .repository = kRepository,
          .api = "https://api.github.example"};
}

config::Config InstalledApp::config() const {
  config::Config config;
  config.github.repository = kRepository;
  config.github.api = settings().api;
  config.github.app_id = kApp;
  config.github.app_key_file = settings().key_file;
  return config;
}

config::Config InstalledApp::config_with_token(const std::string& token) const {
  auto config = this->config();
  config.github.app_id = 0;
  config.github.app_key_file.clear();
  config.github.token_file = write("token", token);
  return config;
}

std::filesystem::path InstalledApp::write(const std::string& name, const std::string& text,
                                          unsigned mode) const {
  const auto file = folder.write(name, text);
  std::filesystem::permissions(file, static_cast<std::filesystem::perms>(mode));
  return file;
}

void InstalledApp::advance(std::chrono::seconds by) {
  clock.advance(by);
  their_clock.advance(by);
}

int InstalledApp::asked(const std::string& request) const {
  return static_cast<int>(std::ranges::count(core.requests(), request));
}

void InstalledApp::require_no_violation() const {
  REQUIRE(core.violations() == std::vector<std::string>{});
}

#include "torchwatch/registration/made_app.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "torchwatch/github/api_client.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::registration {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kTimeLimit{30};

std::string text_of(const json& node, const char* member) {
  const auto found = node.find(member);
  return found != node.end() && found->is_string() ? found->get<std::string>() : "";
}

/// It becomes part of an address that is printed.
bool is_slug(const std::string& text) {
  return !text.empty() && text.size() <= 100 && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

tl::unexpected<Error> unavailable(const std::filesystem::path& path, int code) {
  return fail(ErrorCode::unavailable, "cannot write " + path.string() + ": " +
                                          std::error_code(code, std::generic_category()).message());
}

Result<MadeApp> app_of(const json& answer) {
  MadeApp app;
  if (const auto id = answer.find("id"); id != answer.end() && id->is_number_integer()) {
    app.id = id->get<std::int64_t>();
  }
  app.slug = text_of(answer, "slug");
  app.key = text_of(answer, "pem");
  app.webhook_secret = text_of(answer, "webhook_secret");
  if (app.id > 0 && is_slug(app.slug) && app.key.find("PRIVATE KEY") != std::string::npos)
    return app;
  return fail(ErrorCode::corrupt, "GitHub's answer lacks the App's id, name or key",
              "delete the App at GitHub and begin again");
}

}  // namespace

Result<MadeApp> fetch_app(platform::HttpClient& http, const platform::Clock& clock,
                          const std::string& api, const std::string& code) {
  TW_TRY(const auto client, github::ApiClient::create(http, api, kTimeLimit));
  const auto response = client.send(
      {.method = "POST", .at = client.address("/app-manifests/" + code + "/conversions")});
  if (!response) return fail(ErrorCode::unavailable, response.error().sentence);
  if (response->status == 404 || response->status == 422) {
    return fail(ErrorCode::invalid, "GitHub does not know the code: it was used, or is too old",
                "begin again with `torchwatch github setup`");
  }
  // The code is as good as the key for an hour, so no error names the address.
  const auto answer = github::object_of(*response, "POST /app-manifests", "", clock.wall_now());
  if (!answer) return fail(ErrorCode::unavailable, answer.error().sentence);
  return app_of(*answer);
}

AppFiles::AppFiles(const std::filesystem::path& folder)
    : key(folder / "app.pem"),
      webhook_secret(folder / "webhook-secret"),
      state(folder / "setup.json") {}

Status prepare_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path().empty() ? "." : folder.parent_path(),
                                      error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return unavailable(folder, errno);
  if (!std::filesystem::exists(AppFiles(folder).key, error)) return {};
  return fail(ErrorCode::conflict, "there is an App in " + folder.string() + " already",
              "name another folder with --folder, or take that one away");
}

Status write_secret(const std::filesystem::path& file, const std::string& text) {
  const UniqueFd opened(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!opened.is_open() && errno == EEXIST) {
    return fail(ErrorCode::conflict, "there is a " + file.string() + " already",
                "name another folder with --folder, or take that file away");
  }
  if (!opened.is_open()) return unavailable(file, errno);
  // A umask may have taken rights away, an inherited access list given some.
  if (::fchmod(opened.get(), 0600) != 0) return unavailable(file, errno);
  for (std::size_t at = 0; at < text.size();) {
    const auto written = ::write(opened.get(), text.data() + at, text.size() - at);
    if (written < 0 && errno != EINTR) return unavailable(file, errno);
    if (written > 0) at += static_cast<std::size_t>(written);
  }
  if (::fsync(opened.get()) != 0) return unavailable(file, errno);
  return {};
}

Status store(const MadeApp& app, const std::filesystem::path& folder) {
  const AppFiles files(folder);
  TW_TRY_VOID(write_secret(files.key, app.key));
  if (app.webhook_secret.empty()) return {};
  return write_secret(files.webhook_secret, app.webhook_secret);
}

}  // namespace torchwatch::registration

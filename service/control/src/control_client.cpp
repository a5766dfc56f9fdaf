#include "torchwatch/control/control_client.hpp"

#include "torchwatch/database/writer.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/platform/unix_socket.hpp"

namespace torchwatch::control {
namespace {

using nlohmann::json;

ErrorCode code_of(int status) {
  if (status == 404) return ErrorCode::not_found;
  if (status == 409) return ErrorCode::conflict;
  if (status == 503) return ErrorCode::unavailable;
  if (status == 504) return ErrorCode::timed_out;
  return status < 500 ? ErrorCode::invalid : ErrorCode::internal;
}

Error problem_of(const platform::HttpResponse& response) {
  const auto problem = json::parse(response.body, nullptr, false);
  const auto text = [&](const char* member, const std::string& otherwise) {
    const bool has = problem.is_object() && problem.contains(member) && problem[member].is_string();
    return has ? problem[member].get<std::string>() : otherwise;
  };
  const auto unexplained = "the daemon answered " + std::to_string(response.status);
  return {code_of(response.status), text("detail", unexplained), text("remedy", "")};
}

/// Arguments of a command may be any bytes, JSON is UTF-8.
Result<std::string> text_of(const json& body) {
  try {
    return body.dump();
  } catch (const json::exception&) {
    return fail(ErrorCode::invalid, "an argument is no UTF-8");
  }
}

Result<platform::HttpResponse> send(const std::filesystem::path& socket, const char* method,
                                    const std::string& path, std::string body) {
  platform::HttpRequest request;
  request.method = method;
  request.url = "http://localhost" + path;
  request.headers = {{"Content-Type", "application/json"}};
  request.socket = socket;
  request.body = std::move(body);
  return platform::make_http_client("torchwatch")->send(request);
}

}  // namespace

std::string daemon_that_writes(const config::Config& config) {
  const auto writer = storage::writer_of(config.storage.path).value_or("");  // "4711 (... serve)"
  const auto verb = writer.find(" serve");
  const auto after = verb == std::string::npos ? verb : verb + std::string_view(" serve").size();
  const bool is_word = after < writer.size() && (writer[after] == ' ' || writer[after] == ')');
  return is_word ? writer.substr(0, writer.find(' ')) : "";
}

Result<std::optional<ControlClient>> ControlClient::find(const config::Config& config) {
  const auto path = config::control_socket(config);
  const auto file = platform::SocketFile::open(path);
  const auto listener = file ? file->listener() : fail(file.error());
  if (!listener && listener.error().code == ErrorCode::unavailable) return fail(listener.error());
  if (listener && *listener) return std::optional(ControlClient(path, **listener));
  // Where there can be no socket there is no daemon. One that begins finds what the last one left.
  std::error_code ignored;
  const auto process = std::filesystem::exists(path, ignored) ? "" : daemon_that_writes(config);
  if (process.empty()) return std::optional<ControlClient>();
  return fail(ErrorCode::unavailable,
              "process " + process + " has the database and no control socket at " + path.string() +
                  ": it is starting, or the file was removed",
              "try again in a minute, and restart that process if that does not help");
}

Result<json> ControlClient::post(const std::string& path, const json& body) const {
  TW_TRY(const auto text, text_of(body));
  TW_TRY(const auto response, send(socket_, "POST", path, text));
  if (response.status < 200 || response.status >= 300) return fail(problem_of(response));
  auto object = json::parse(response.body, nullptr, false);
  if (object.is_object()) return object;
  return fail(ErrorCode::corrupt, "the daemon answered without a JSON object");
}

Result<health::Report> ControlClient::service_now() const {
  TW_TRY(const auto response, send(socket_, "GET", "/healthz", ""));
  return health::parse_report(json::parse(response.body, nullptr, false));
}

}  // namespace torchwatch::control

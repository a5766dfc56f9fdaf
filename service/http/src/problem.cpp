#include "torchwatch/http/problem.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace torchwatch::http {
namespace {

struct CodeMeaning {
  ErrorCode code;
  int status;
  const char* instead;  ///< replaces the message; null: clients see the message
  const char* remedy;   ///< replaces the remedy with it
};

constexpr std::array kCodes{
    CodeMeaning{ErrorCode::invalid, 400, nullptr, nullptr},
    CodeMeaning{ErrorCode::not_found, 404, nullptr, nullptr},
    CodeMeaning{ErrorCode::conflict, 409, nullptr, nullptr},
    CodeMeaning{ErrorCode::unavailable, 503, "the service cannot do this now", "try again later"},
    CodeMeaning{ErrorCode::timed_out, 504, "this took too long", "try again later"},
    CodeMeaning{ErrorCode::cancelled, 503, "the service is stopping", ""},
    CodeMeaning{ErrorCode::failed, 500, "the service failed", "see its log"},
    CodeMeaning{ErrorCode::corrupt, 500, "stored data is damaged", "see the service's log"},
    CodeMeaning{ErrorCode::damaged, 500, "the database is damaged", "see the service's log"},
    CodeMeaning{ErrorCode::internal, 500, "the service failed", "see its log"}};

constexpr std::array kTitles{std::pair{400, "Bad Request"},
                             std::pair{401, "Unauthorized"},
                             std::pair{403, "Forbidden"},
                             std::pair{404, "Not Found"},
                             std::pair{405, "Method Not Allowed"},
                             std::pair{408, "Request Timeout"},
                             std::pair{409, "Conflict"},
                             std::pair{411, "Length Required"},
                             std::pair{413, "Content Too Large"},
                             std::pair{414, "URI Too Long"},
                             std::pair{415, "Unsupported Media Type"},
                             std::pair{416, "Range Not Satisfiable"},
                             std::pair{421, "Misdirected Request"},
                             std::pair{422, "Unprocessable Content"},
                             std::pair{429, "Too Many Requests"},
                             std::pair{431, "Request Header Fields Too Large"},
                             std::pair{500, "Internal Server Error"},
                             std::pair{503, "Service Unavailable"},
                             std::pair{504, "Gateway Timeout"}};

const CodeMeaning& meaning_of(ErrorCode code) {
  for (const auto& meaning : kCodes) {
    if (meaning.code == code) return meaning;
  }
  return kCodes.back();
}

}  // namespace

int status_of(ErrorCode code) {
  return meaning_of(code).status;
}

bool is_internal(ErrorCode code) {
  return meaning_of(code).instead != nullptr;
}

std::string title_of(int status) {
  for (const auto& [known, title] : kTitles) {
    if (known == status) return title;
  }
  return "Error";
}

Reply problem(int status, const std::string& detail, std::map<std::string, std::string> headers,
              const std::string& remedy) {
  const nlohmann::json body{{"type", "about:blank"},
                            {"title", title_of(status)},
                            {"status", status},
                            {"detail", detail},
                            {"remedy", remedy.empty() ? nlohmann::json() : nlohmann::json(remedy)}};
  // A detail may quote what a client sent: invalid UTF-8 is replaced.
  return {.status = status,
          .content_type = "application/problem+json",
          .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
          .headers = std::move(headers)};
}

Reply problem(int status, const Error& error) {
  return problem(status, error.message, {}, error.remedy);
}

Reply problem(const Error& error) {
  const auto& meaning = meaning_of(error.code);
  if (meaning.instead == nullptr) return problem(meaning.status, error);
  return problem(meaning.status, meaning.instead, {}, meaning.remedy);
}

}  // namespace torchwatch::http

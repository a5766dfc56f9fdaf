#include "torchwatch/registration/waiting.hpp"

#include <algorithm>

#include "torchwatch/html/quoting.hpp"

namespace torchwatch::registration {
namespace {

constexpr std::size_t kCodeBytesMax = 200;

/// The code becomes part of an address.
bool is_code(const std::string& text) {
  return !text.empty() && text.size() <= kCodeBytesMax && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_';
  });
}

std::string one(const std::multimap<std::string, std::string>& query, const std::string& name) {
  return query.count(name) == 1 ? query.find(name)->second : "";
}

http::Reply page(int status, std::string html, const std::string& may_send_to = "'none'") {
  return {.status = status,
          .content_type = "text/html; charset=utf-8",
          .body = std::move(html),
          .headers = {{"Content-Security-Policy",
                       "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action " +
                           may_send_to}}};
}

std::string told(const std::string& heading, const std::string& text) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
         html::escaped(heading) + "</title></head><body><h1>" + html::escaped(heading) +
         "</h1><p>" + html::escaped(text) + "</p></body></html>\n";
}

}  // namespace

AwaitedAnswer::AwaitedAnswer(const platform::Clock& clock, std::string state,
                             platform::WallMillis asked_at, std::chrono::seconds time_limit)
    : clock_(clock), state_(std::move(state)), asked_at_(asked_at), time_limit_(time_limit) {}

Result<std::string> AwaitedAnswer::take(const std::multimap<std::string, std::string>& query) {
  const std::scoped_lock lock(mutex_);
  if (one(query, "state") != state_) {
    return fail(ErrorCode::invalid, "this is not the answer to the question that was asked",
                "begin again with `torchwatch github setup`");
  }
  const auto age = clock_.wall_now() - asked_at_;
  if (age < 0 || age > std::chrono::milliseconds(time_limit_).count()) {
    return fail(ErrorCode::timed_out, "the answer came too late",
                "begin again with `torchwatch github setup`");
  }
  const auto code = one(query, "code");
  if (!is_code(code)) {
    return fail(ErrorCode::invalid, "the answer has no code that GitHub could have sent",
                "begin again with `torchwatch github setup`");
  }
  if (is_taken_) return fail(ErrorCode::conflict, "the answer has been used already");
  is_taken_ = true;
  return code;
}

Result<std::multimap<std::string, std::string>> query_of(const std::string& address) {
  const auto question = address.find('?');
  if (question == std::string::npos) {
    return fail(ErrorCode::invalid, "the address has no ?code=...&state=... at its end",
                "copy the whole address to which GitHub sent the browser");
  }
  std::multimap<std::string, std::string> query;
  const auto text = address.substr(question + 1, address.find('#') - question - 1);
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('&', at), text.size());
    const auto pair = text.substr(at, end - at);
    const auto equals = pair.find('=');
    // Neither a code nor a state has a character that is encoded.
    if (equals != std::string::npos) query.emplace(pair.substr(0, equals), pair.substr(equals + 1));
    at = end + 1;
  }
  return query;
}

std::vector<http::Route> routes_of(AwaitedAnswer& answer, std::function<std::string()> form,
                                   const std::string& server,
                                   std::function<Result<std::string>(const std::string&)> made) {
  const auto show = [form = std::move(form), server](const http::Request&) -> Result<http::Reply> {
    return page(200, form(), server);
  };
  const auto take = [&answer,
                     made = std::move(made)](const http::Request& request) -> Result<http::Reply> {
    const auto code = answer.take(request.query);
    if (!code) return page(400, told("No App was made", code.error().text()));
    const auto done = made(*code);
    if (!done) return page(502, told("The App could not be fetched", done.error().text()));
    return page(200, told("The App is made", *done));
  };
  return {{.method = "GET", .path = "/", .handler = show},
          {.method = "GET", .path = "/created", .handler = take}};
}

}  // namespace torchwatch::registration

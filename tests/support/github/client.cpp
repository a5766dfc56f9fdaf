#include "client.hpp"

#include <httplib.h>

#include <algorithm>

namespace torchwatch::test {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

GithubRequest github_request(const platform::HttpRequest& request) {
  GithubRequest out;
  out.method = request.method;
  const auto host = request.url.find("://") + 3;
  out.target = request.url.substr(std::min(request.url.find('/', host), request.url.size()));
  const auto question = out.target.find('?');
  out.path = httplib::detail::decode_url(out.target.substr(0, question), false);
  if (question != std::string::npos) {
    httplib::detail::parse_query_text(out.target.substr(question + 1), out.query);
  }
  for (const auto& [name, value] : request.headers) out.headers.emplace(lower(name), value);
  out.headers.emplace("user-agent", "torchwatch");
  out.body = request.body;
  return out;
}

Result<platform::HttpResponse> FakeGithubClient::send(const platform::HttpRequest& request) {
  if (request.stop.stop_requested()) return fail(ErrorCode::cancelled, "interrupted");
  const auto outcome = core_.answer(github_request(request));
  if (const auto& fault = outcome.fault) {
    const bool is_late = fault->kind == Fault::Kind::hang ||
                         (fault->kind == Fault::Kind::slow && fault->delay >= request.time_limit);
    clock_.wait(is_late ? request.time_limit : fault->delay, {});
    if (is_late) return fail(ErrorCode::timed_out, "no answer in time");
    if (fault->kind == Fault::Kind::cut) return fail(ErrorCode::corrupt, "the answer was cut off");
  }
  platform::HttpResponse response{.status = outcome.answer.status, .headers = {}, .body = {}};
  response.body = outcome.answer.text();
  for (const auto& [name, value] : outcome.answer.headers) response.headers[lower(name)] = value;
  return response;
}

}  // namespace torchwatch::test

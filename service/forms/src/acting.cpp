#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "action.hpp"
#include "torchwatch/http/problem.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::forms {
namespace {

using http::Reply;
using http::Request;

/// A form that was sent: for what, with what, and the page that it was on.
struct Sent {
  const Action& action;
  std::string id;
  Typed typed;
  Request page;  ///< the request for that page, as the same reader
};

/// Browsers end lines with CR LF; nobody means the blanks at the ends.
std::string plain_lines(std::string text) {
  std::erase(text, '\r');
  const auto first = text.find_first_not_of(" \n\t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \n\t") - first + 1);
}

Sent sent_with(const Request& request, const Action& action) {
  Sent sent{.action = action, .id = {}, .typed = {}, .page = request};
  for (const auto& [name, value] : request.path_parameters) sent.id = value;
  for (const auto* name : {kReason, kMessage, kOnce}) {
    const auto field = request.form.find(name);
    if (field != request.form.end()) sent.typed[name] = plain_lines(field->second);
  }
  sent.page.method = "GET";
  sent.page.query.clear();
  sent.page.path = request.path.substr(0, request.path.rfind('/'));
  return sent;
}

std::string address_of_page(const Sent& sent, const View& view) {
  const auto path = std::string(sent.action.path.substr(1));
  const auto collection = path.substr(0, path.find('/'));
  const auto item = sent.id.empty() ? std::string() : "/" + http::percent_encoded(sent.id);
  return view.root + collection + item;
}

/// Says why nothing was done, with the form again.
Reply not_done(const Sent& sent, const View& view, int status, const std::string& why) {
  pages::Page page{.title = "Not done",
                   .content = html::title("Not done") +
                              html::paragraph(html::text(printable(why) + "."), "summary bad"),
                   .status = status};
  page.content += form_of({&sent.action}, sent.id, sent.typed, view);
  const auto reason = sent.typed.find(kReason);
  const bool would_be_lost =
      !view.request.signed_in && reason != sent.typed.end() && !reason->second.empty();
  if (would_be_lost) {
    page.content +=
        html::paragraph(html::text("What you typed, to copy:")) + html::code_block(reason->second);
  }
  page.content += html::paragraph(html::link(address_of_page(sent, view), "Back to the page"));
  return view.request.signed_in ? pages::framed(view, page, {}) : pages::bare(view.root, page);
}

Result<nlohmann::json> body_of(const Sent& sent) {
  auto body = nlohmann::json::object();
  if (sent.action.path.starts_with("/compare/")) {
    TW_TRY(const auto pair, pages::pair_of(sent.id));
    body = {{"baseline", pair.baseline}, {"candidate", pair.candidate}};
  }
  const auto add = [&](const char* field, const char* member) {
    const auto given = sent.typed.find(field);
    if (given != sent.typed.end() && !given->second.empty()) body[member] = given->second;
  };
  if (sent.action.takes_reason) add(kReason, "reason");
  add(kMessage, "key");
  return body;
}

/// The path of the endpoint that does it, for the item.
std::string path_of_endpoint(const Request& request, const Sent& sent) {
  if (sent.action.endpoint.empty()) return "/api/v1" + request.path;
  constexpr std::string_view kId = "{id}";
  auto path = "/api/v1" + std::string(sent.action.endpoint);
  const auto at = path.find(kId);
  if (at != std::string::npos) path.replace(at, kId.size(), http::percent_encoded(sent.id));
  return path;
}

/// Asks the API as who is signed in. Errors: those of the endpoint; invalid, for a token that lacks
/// the scope, as the reply says.
Result<Reply> ask_api(const Request& request, const Sent& sent, const pages::Sources& sources) {
  auto asked = request;
  TW_TRY(const auto body, body_of(sent));
  asked.method = sent.action.method;
  asked.path = path_of_endpoint(request, sent);
  asked.content_type = "application/json";
  asked.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  // Who presses a button twice has decided, or asked, once.
  const auto once = sent.typed.find(kOnce);
  if (sent.action.endpoint.empty()) asked.idempotency_key = "a-form-of-a-page";
  if (once != sent.typed.end()) asked.idempotency_key = once->second;
  const auto found = http::match(sources.api, asked);
  if (!found) return found.error();
  const auto& scope = found->route->scope;
  if (!scope || !request.signed_in->scopes.contains(*scope)) {
    return http::problem(403, "the token " + request.token_name +
                                  " may not do that: it needs the "
                                  "scope " +
                                  std::string(to_string(scope.value_or(Scope::admin))));
  }
  asked.path_parameters = found->parameters;
  return found->route->handler(asked);
}

/// What a problem says, in a line.
std::string text_of(const Reply& problem) {
  const auto said = nlohmann::json::parse(problem.body, nullptr, false);
  if (!said.is_object()) return http::title_of(problem.status);
  const auto remedy = said.find("remedy");
  const bool has_remedy = remedy != said.end() && remedy->is_string();
  return said.value("detail", "") + (has_remedy ? "; " + remedy->get<std::string>() : "");
}

Result<Reply> act(const Request& request, const Action& action, const Shared& shared) {
  auto sent = sent_with(request, action);
  const auto view = pages::view_of(sent.page, *shared.sources, pages::root_of(request.path));
  if (const auto objection = objection_to(request, shared.sign_ins)) {
    // Nothing of a form that another site has sent goes back.
    const bool is_foreign = !shared.sign_ins.is_own_origin(request);
    if (is_foreign) sent.typed.clear();
    return not_done(sent, view, objection->status, objection->text);
  }
  auto reply = ask_api(request, sent, *shared.sources);
  if (!reply && http::is_internal(reply.error().code)) {
    shared.logger.error("a form failed: " + reply.error().text(), {{"path", request.path}});
  }
  if (!reply) reply = http::problem(reply.error());
  if (reply->status >= 400) return not_done(sent, view, reply->status, text_of(*reply));
  shared.sign_ins.leave_note(request, sent.page.path, std::string(action.done));
  const auto& path = sent.page.path;
  return Reply{
      .status = 303,
      .content_type = "text/plain",
      .body = {},
      .headers = {{"Location", "../" + http::percent_encoded(path.substr(path.rfind('/') + 1))}}};
}

}  // namespace

std::optional<Objection> objection_to(const Request& request, const signin::SignIns& sign_ins) {
  if (!sign_ins.is_own_origin(request)) {
    return Objection{403, "this was not sent by a page of this service"};
  }
  if (!request.signed_in) {
    return Objection{401, "you are not signed in, or not any more: sign in, and send it again"};
  }
  const auto keys = request.form.equal_range("key");
  const bool has_one = request.form.count("key") == 1;
  if (has_one && keys.first->second == request.signed_in->form_key) return std::nullopt;
  return Objection{403, "this page was made for another sign-in: send it again from here"};
}

std::vector<http::Route> routes(Parts parts) {
  const auto shared = std::make_shared<const Shared>(
      Shared{.sources = std::make_shared<const pages::Sources>(std::move(parts.sources)),
             .sign_ins = parts.sign_ins,
             .logger = std::move(parts.logger)});
  std::vector<http::Route> routes;
  const auto add = [&](std::string_view method, std::string_view path, auto handler) {
    routes.push_back(
        {.method = method,
         .path = path,
         .handler = [handler, shared](const Request& request) { return handler(request, *shared); },
         .is_page = true});
  };
  add("GET", "/sign-in", get_sign_in);
  add("POST", "/sign-in", sign_in);
  add("POST", "/sign-out", sign_out);
  for (const auto& action : kActions) {
    add("POST", action.path, [&action](const Request& request, const Shared& with) {
      return act(request, action, with);
    });
  }
  return routes;
}

}  // namespace torchwatch::forms

#include <chrono>

#include "action.hpp"
#include "torchwatch/html/quoting.hpp"
#include "torchwatch/paging/paging.hpp"

namespace torchwatch::forms {
namespace {

using http::Reply;
using http::Request;

constexpr std::size_t kAddressMax = 2'000;

std::string one_field(const Request& request, const char* name) {
  return request.form.count(name) == 1 ? request.form.find(name)->second : "";
}

std::string parameter(const Request& request, const char* name) {
  return request.query.count(name) == 1 ? request.query.find(name)->second : "";
}

/// The form; a token that was typed is never shown again.
html::Fragment token_form(const std::string& to) {
  return only_html(
      "<form class=\"act\" method=\"post\" action=\"sign-in\">\n<input type=\"hidden\" "
      "name=\"to\" value=\"" +
      html::escaped(to) +
      "\">\n<p><label for=\"token\">Token</label>\n<input id=\"token\" type=\"password\" "
      "name=\"token\" maxlength=\"512\" autocomplete=\"current-password\" required></p>\n"
      "<p class=\"buttons\">\n<button type=\"submit\">Sign in</button>\n</p>\n</form>\n");
}

html::Fragment help_text() {
  return html::paragraph(html::text(
      "`torchwatch token create NAME --scopes triage` prints a token, on the service's machine; "
      "`measure` is the scope to retest, cancel and retry. A sign-in lasts twelve hours at most "
      "and ends with its token."));
}

Reply sign_in_page(int status, const std::string& to, const std::string& said,
                   const std::string& kind) {
  auto content = html::title("Sign in");
  if (!said.empty()) content += html::paragraph(html::text(said), kind);
  return pages::bare(
      "",
      {.title = "Sign in", .content = content + token_form(to) + help_text(), .status = status});
}

Reply signed_in_page(const Request& request, const std::string& to) {
  auto content =
      html::title("Sign in") +
      html::paragraph(html::text("You are signed in with " + request.token_name +
                                 ", which may: " + to_string(request.signed_in->scopes) + "."),
                      "summary good") +
      html::paragraph(html::link(way_back(to), "Continue"));
  content +=
      only_html("<form class=\"act\" method=\"post\" action=\"sign-out\">\n" + key_field(request) +
                "<p class=\"buttons\">\n<button type=\"submit\">Sign out</button>\n</p>\n"
                "</form>\n");
  return pages::bare("", {.title = "Sign in", .content = content});
}

Reply redirect(const std::string& address, const std::string& cookie) {
  return {.status = 303,
          .content_type = "text/plain",
          .body = {},
          .headers = {{"Location", address}, {"Set-Cookie", cookie}}};
}

}  // namespace

std::string way_back(const std::string& to) {
  const bool is_plain = to.size() <= kAddressMax && to.starts_with('/') &&
                        to.find_first_of("\\\r\n") == std::string::npos;
  if (!is_plain) return "./";
  // Behind "./" nothing is another host or another scheme.
  std::string address = "./";
  for (const char c : to.substr(1)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_safe = byte > ' ' && byte < 0x7f && c != '"' && c != '<' && c != '>';
    address += is_safe ? std::string(1, c) : http::percent_encoded(std::string_view(&c, 1));
  }
  return address;
}

Result<Reply> get_sign_in(const Request& request, const Shared&) {
  for (const auto& [name, value] : request.query) {
    if (name == "to" || name == "signed") continue;
    return fail(ErrorCode::invalid,
                "parameter \"" + name.substr(0, 100) + "\" is not known; allowed: to, signed");
  }
  const auto to = parameter(request, "to");
  if (request.signed_in) return signed_in_page(request, to);
  const bool was_signed_out = parameter(request, "signed") == "out";
  return sign_in_page(200, to, was_signed_out ? "You are signed out." : "", "summary good");
}

Result<Reply> sign_in(const Request& request, const Shared& shared) {
  const auto to = one_field(request, "to");
  if (!shared.sign_ins.is_own_origin(request)) {
    return sign_in_page(403, "", "This was not sent by a page of this service.", "summary bad");
  }
  const auto begun = shared.sign_ins.begin(request, one_field(request, "token"));
  if (begun) return redirect(way_back(to), *begun);
  if (begun.error().code != ErrorCode::not_found) return fail(begun.error());
  auto refused = sign_in_page(401, to, "This token is not known, or was revoked.", "summary bad");
  refused.headers.emplace("WWW-Authenticate", "Bearer");
  refused.has_wrong_token = true;
  return refused;
}

Result<Reply> sign_out(const Request& request, const Shared& shared) {
  const auto objection = objection_to(request, shared.sign_ins);
  const bool is_signed_out = objection && objection->status == 401;
  if (objection && !is_signed_out) {
    return sign_in_page(objection->status, "", "Not signed out: " + objection->text + ".",
                        "summary bad");
  }
  TW_TRY(const auto removal, shared.sign_ins.end(request));
  return redirect("./sign-in?signed=out", removal);
}

}  // namespace torchwatch::forms

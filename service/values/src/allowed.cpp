#include "torchwatch/values/allowed.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <regex>
#include <string_view>

namespace torchwatch::config {
namespace {

/// Whether an address has a scheme, perhaps a name and a password, a host, perhaps a port, and no
/// more than servers take.
bool is_http_address(const std::string& text) {
  constexpr std::size_t kBytesMax = 8U << 10U;
  constexpr std::size_t kPlaceBytesMax = 500;
  static const std::regex kPlace(R"(([^@]*@)?([^\[\]@:]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?)");
  const bool is_plain =
      std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c != 127; });
  if (!is_plain || text.size() > kBytesMax) return false;
  if (!text.starts_with("https://") && !text.starts_with("http://")) return false;
  const auto place = text.substr(text.find("//") + 2);
  const auto authority = place.substr(0, place.find_first_of("/?#"));
  return authority.size() <= kPlaceBytesMax && std::regex_match(authority, kPlace);
}

}  // namespace

Allowed<std::vector<std::string>> ip_addresses() {
  return {"IP addresses, each once", [](const std::vector<std::string>& list) {
            in6_addr bytes{};
            return is_distinct(list) && std::ranges::all_of(list, [&](const auto& text) {
                     return inet_pton(AF_INET, text.c_str(), &bytes) == 1 ||
                            inet_pton(AF_INET6, text.c_str(), &bytes) == 1;
                   });
          }};
}

// An origin is what a browser sends: scheme and host, perhaps a port, no path.
Allowed<std::vector<std::string>> origins() {
  return {"origins such as https://grafana.example, each once",
          [](const std::vector<std::string>& list) {
            return is_distinct(list) && std::ranges::all_of(list, [](const auto& text) {
                     const auto host = text.find("://");
                     return (text.starts_with("https://") || text.starts_with("http://")) &&
                            text.size() > host + 3 &&
                            text.find_first_of("/ *,", host + 3) == std::string::npos;
                   });
          }};
}

Allowed<std::vector<std::filesystem::path>> paths() {
  return {"paths, each once", [](const std::vector<std::filesystem::path>& list) {
            return is_distinct(list) && std::find(list.begin(), list.end(), "") == list.end();
          }};
}

Allowed<std::string> owner_and_name() {
  return {"owner/name", [](const std::string& text) {
            const auto slash = text.find('/');
            const bool is_pair = slash != 0 && slash != std::string::npos &&
                                 slash + 1 < text.size() && text.rfind('/') == slash;
            return text.empty() || (is_pair && text.find_first_of(" \t\n?#%") == std::string::npos);
          }};
}

Allowed<std::vector<std::string>> logins() {
  return {"logins or owner/team, without @, each once", [](const std::vector<std::string>& list) {
            const auto is_login = [](const std::string& name) {
              constexpr std::string_view kAllowed =
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/";
              return !name.empty() && name.find_first_not_of(kAllowed) == std::string::npos &&
                     std::ranges::count(name, '/') <= 1;
            };
            return is_distinct(list) && std::ranges::all_of(list, is_login);
          }};
}

Allowed<std::vector<std::string>> users() {
  const auto mentions = logins();
  return {"logins of users, no teams, without @, each once",
          [mentions](const std::vector<std::string>& list) {
            return mentions.holds(list) && std::ranges::all_of(list, [](const auto& name) {
                     return name.find('/') == std::string::npos;
                   });
          }};
}

Allowed<std::vector<std::string>> roles() {
  return {"admin, maintain, write, triage, read, each once",
          [](const std::vector<std::string>& list) {
            constexpr std::array kRoles{"admin", "maintain", "write", "triage", "read"};
            return is_distinct(list) && std::ranges::all_of(list, [&](const auto& role) {
                     return std::ranges::find(kRoles, role) != kRoles.end();
                   });
          }};
}

Allowed<std::vector<std::string>> numeric_ids() {
  return {"numbers of users, such as \"583231\", each once",
          [](const std::vector<std::string>& list) {
            return is_distinct(list) && std::ranges::all_of(list, [](const auto& id) {
                     return !id.empty() && id.size() < 19 &&
                            id.find_first_not_of("0123456789") == std::string::npos;
                   });
          }};
}

Allowed<std::string> command_prefix() {
  return {
      "/ or @, then letters, digits and -, perhaps a blank at the end: /, /tw-, \"@torchwatch \"",
      [](const std::string& text) {
        static const std::regex prefix("[/@][A-Za-z0-9-]{0,39} ?");
        return text != "@" && text != "@ " && text != "/ " && std::regex_match(text, prefix);
      }};
}

Allowed<std::string> http_address() {
  return {"an address that begins with https:// or http:// and a host", is_http_address};
}

Allowed<std::string> http_address_or_none() {
  auto address = http_address();
  return {address.words,
          [holds = address.holds](const std::string& text) { return text.empty() || holds(text); }};
}

Allowed<std::string> version_label() {
  return {"letters and digits, such as cpu or cu130", [](const std::string& text) {
            return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.") ==
                   std::string::npos;
          }};
}

namespace {

/// Whether the calendar has a day of the form 2026-08-16.
bool is_day(const std::string& text) {
  const std::chrono::year_month_day day(
      std::chrono::year(std::stoi(text.substr(0, 4))),
      std::chrono::month(static_cast<unsigned>(std::stoi(text.substr(5, 2)))),
      std::chrono::day(static_cast<unsigned>(std::stoi(text.substr(8, 2)))));
  return day.ok();
}

}  // namespace

Allowed<std::string> date_or_version() {
  constexpr std::size_t kVersionBytesMax = 64;
  return {"a date such as 2026-08-16, or a version such as 2.13.0, of at most 64 characters",
          [](const std::string& text) {
            static const std::regex date(R"(\d{4}-\d{2}-\d{2})");
            static const std::regex version(R"(\d+(\.\d+)*([a-z]+\d+)?(\.dev\d+)?(\+[a-z0-9.]+)?)");
            // The library's search goes as deep as the text is long.
            if (text.empty() || text.size() > kVersionBytesMax) return text.empty();
            return std::regex_match(text, date) ? is_day(text) : std::regex_match(text, version);
          }};
}

Allowed<std::string> private_address() {
  return {
      "https://..., or http://127.0.0.1:PORT/..., without a name or password in it",
      [](const std::string& text) {
        static const std::regex kPlace(
            R"((https://[A-Za-z0-9.\-]+(:\d+)?|http://(127\.0\.0\.1|\[::1\])(:\d+)?)(/[!-~]*)?)");
        return text.size() <= 2000 && text.find('#') == std::string::npos &&
               std::regex_match(text, kPlace);
      }};
}

Allowed<std::string> plain_name() {
  return {"1 to 40 letters, digits, - and _", [](const std::string& text) {
            static const std::regex kName("[A-Za-z0-9_-]{1,40}");
            return std::regex_match(text, kName);
          }};
}

// No quoted local parts, comments or lists: what is sent is a header of a mail.
Allowed<std::string> mail_address() {
  return {"an address such as perf@example.org", [](const std::string& text) {
            static const std::regex kAddress(
                R"([A-Za-z0-9_+][A-Za-z0-9._+\-]{0,63}@[A-Za-z0-9][A-Za-z0-9.\-]{0,252})");
            return std::regex_match(text, kAddress);
          }};
}

Allowed<std::vector<std::string>> mail_addresses() {
  return {"one or more addresses such as perf@example.org, each once",
          [holds = mail_address().holds](const std::vector<std::string>& list) {
            return !list.empty() && is_distinct(list) && std::ranges::all_of(list, holds);
          }};
}

Allowed<std::vector<std::string>> events() {
  return {"opened, recurred, acknowledged, closed, reopened, nightly, alarm, each once",
          [](const std::vector<std::string>& list) {
            static const std::vector<std::string> kKnown{
                "opened", "recurred", "acknowledged", "closed", "reopened", "nightly", "alarm"};
            return is_distinct(list) && std::ranges::all_of(list, [](const std::string& event) {
                     return std::ranges::find(kKnown, event) != kKnown.end();
                   });
          }};
}

Allowed<std::string> template_of_commits() {
  return {"https://... or /..., with {commit} in it", [](const std::string& text) {
            const bool is_safe =
                text.starts_with("https://") || text.starts_with("http://127.0.0.1:");
            const bool is_place = text.starts_with('/') || (is_safe && is_http_address(text));
            return text.empty() || (is_place && text.find("{commit}") != std::string::npos);
          }};
}

}  // namespace torchwatch::config

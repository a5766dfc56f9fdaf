#include "torchwatch/paging/paging.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

namespace torchwatch::http {
namespace {

using nlohmann::json;

constexpr int kLimitMax = 200;

std::optional<std::int64_t> positive(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

/// Reads "2026-08-17"; nothing for what is not a day of the calendar.
std::optional<std::chrono::sys_days> day_of(const std::string& text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool has_form = std::ranges::equal(
      text, kForm, [&](char c, char form) { return form == 'd' ? is_digit(c) : c == form; });
  if (!has_form) return std::nullopt;
  const std::chrono::year_month_day day(
      std::chrono::year(std::stoi(text.substr(0, 4))),
      std::chrono::month(static_cast<unsigned>(std::stoi(text.substr(5, 2)))),
      std::chrono::day(static_cast<unsigned>(std::stoi(text.substr(8, 2)))));
  if (!day.ok()) return std::nullopt;
  return std::chrono::sys_days(day);
}

Status read_parameter(const std::string& name, const std::string& text,
                      std::initializer_list<std::string_view> filters, Page& page) {
  if (name == "limit") {
    const auto value = positive(text);
    if (!value || *value > kLimitMax) {
      return fail(ErrorCode::invalid, "invalid limit \"" + text.substr(0, 100) +
                                          "\": must be 1 to " + std::to_string(kLimitMax));
    }
    page.limit = static_cast<int>(*value);
    return {};
  }
  if (name == "before") {
    TW_TRY(page.before, id_in(name, text));
    return {};
  }
  const auto known = std::ranges::find(filters, name);
  if (known == filters.end()) {
    std::string allowed = "limit, before";
    for (const auto filter : filters) allowed.append(", ").append(filter);
    return fail(ErrorCode::invalid,
                "parameter \"" + name.substr(0, 100) + "\" is not known; allowed: " + allowed);
  }
  page.filters[name] = text;
  return {};
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const unsigned char c : text) {
    const bool is_plain =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
        std::string_view("-._~").find(static_cast<char>(c)) != std::string_view::npos;
    if (is_plain) {
      encoded += static_cast<char>(c);
    } else {
      encoded += {'%', kDigits[c >> 4U], kDigits[c & 15U]};
    }
  }
  return encoded;
}

std::string percent_encoded_path(std::string_view path) {
  std::string encoded;
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    encoded += percent_encoded(path.substr(0, slash)) + "/";
    path.remove_prefix(slash + 1);
  }
  return encoded + percent_encoded(path);
}

bool Page::admits(const std::string& filter, std::string_view value) const {
  const auto found = filters.find(filter);
  return found == filters.end() || found->second == value;
}

Result<Page> page_of(const Request& request, std::initializer_list<std::string_view> filters) {
  Page page;
  page.path = request.path;
  for (const auto& [name, text] : request.query) {
    if (request.query.count(name) > 1) {
      return fail(ErrorCode::invalid,
                  "parameter \"" + name.substr(0, 100) + "\" is given more than once");
    }
    TW_TRY_VOID(read_parameter(name, text, filters, page));
  }
  return page;
}

Result<Days> days_of(const Page& page) {
  Days days;
  for (const std::string name : {"from", "to"}) {
    const auto given = page.filters.find(name);
    if (given == page.filters.end()) continue;
    const auto day = day_of(given->second);
    if (!day) {
      return fail(ErrorCode::invalid, "invalid " + name + " \"" + given->second.substr(0, 100) +
                                          "\": must be a date, such as 2026-08-17");
    }
    using std::chrono::milliseconds;
    if (name == "from") days.from = milliseconds(day->time_since_epoch()).count();
    if (name == "to")
      days.until = milliseconds((*day + std::chrono::days(1)).time_since_epoch()).count();
  }
  return days;
}

Status refuse_parameters(const Request& request) {
  if (request.query.empty()) return {};
  return fail(ErrorCode::invalid, "unknown parameter \"" +
                                      request.query.begin()->first.substr(0, 100) +
                                      "\": this path takes none");
}

Status refuse_others(const Request& request, std::initializer_list<std::string_view> known) {
  for (const auto& [name, text] : request.query) {
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string allowed;
    for (const auto each : known) allowed.append(allowed.empty() ? "" : ", ").append(each);
    return fail(ErrorCode::invalid,
                "parameter \"" + name.substr(0, 100) + "\" is not known; allowed: " + allowed);
  }
  return {};
}

Result<std::int64_t> id_in(const std::string& parameter, const std::string& text) {
  if (const auto id = positive(text)) return *id;
  return fail(ErrorCode::invalid, "invalid " + parameter + " \"" + text.substr(0, 100) +
                                      "\": must be an id, such as 17");
}

Result<Filters> filters_of(const Request& request, std::initializer_list<std::string_view> known) {
  TW_TRY_VOID(refuse_others(request, known));
  TW_TRY(auto page, page_of(request, known));
  return std::move(page.filters);
}

Result<std::map<std::string, std::int64_t>> ids_of(const Request& request,
                                                   std::initializer_list<std::string_view> known) {
  TW_TRY(const auto filters, filters_of(request, known));
  std::map<std::string, std::int64_t> ids;
  for (const auto& [name, text] : filters) {
    TW_TRY(ids[name], id_in(name, text));
  }
  return ids;
}

Result<std::int64_t> id_of(const Request& request) {
  const std::string& text = request.path_parameters.at("id");
  if (const auto id = positive(text)) return *id;
  return fail(ErrorCode::not_found,
              "invalid id \"" + text.substr(0, 100) + "\": must be a positive number");
}

Reply object_reply(const json& object) {
  return {.status = 200,
          .content_type = "application/json",
          .body = object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n",
          .headers = {}};
}

}  // namespace torchwatch::http

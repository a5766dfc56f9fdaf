#include "torchwatch/paging/paging.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

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

Status read_parameter(const std::string& name, const std::string& text,
                      std::initializer_list<std::string_view> filters, Page& page) {
  const auto value = positive(text);
  if (name == "limit") {
    if (!value || *value > kLimitMax) {
      return fail(ErrorCode::invalid, "invalid limit \"" + text.substr(0, 100) +
                                          "\": must be 1 to " + std::to_string(kLimitMax));
    }
    page.limit = static_cast<int>(*value);
    return {};
  }
  if (name == "before") {
    if (!value) {
      return fail(ErrorCode::invalid,
                  "invalid before \"" + text.substr(0, 100) + "\": must be an id, such as 17");
    }
    page.before = *value;
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

Status refuse_parameters(const Request& request) {
  if (request.query.empty()) return {};
  return fail(ErrorCode::invalid, "unknown parameter \"" +
                                      request.query.begin()->first.substr(0, 100) +
                                      "\": this path takes none");
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

#include "listing.hpp"

#include <algorithm>
#include <iterator>

namespace torchwatch::api {
namespace {

using nlohmann::json;

std::string address_of_next(const http::Page& page, const json& before) {
  const auto text = before.is_string() ? before.get<std::string>() : before.dump();
  auto address =
      page.path + "?before=" + http::percent_encoded(text) + "&limit=" + std::to_string(page.limit);
  for (const auto& [name, value] : page.filters)
    address += "&" + name + "=" + http::percent_encoded(value);
  return address;
}

}  // namespace

http::Reply list_reply(const char* name, json entries, const http::Page& page, const json& next) {
  auto reply = http::object_reply({{name, std::move(entries)}, {"next", next}});
  if (next.is_null()) return reply;
  reply.headers.emplace("Link", "<" + address_of_next(page, next) + ">; rel=\"next\"");
  return reply;
}

http::Reply list_reply(const char* name, json entries, const http::Page& page) {
  json next;
  const auto limit = static_cast<std::size_t>(page.limit);
  if (entries.size() > limit) {
    entries.erase(entries.begin() + page.limit, entries.end());
    next = entries.back().at("id");
  }
  return list_reply(name, std::move(entries), page, next);
}

Result<NamedPage> named_page_of(const http::Request& request,
                                std::initializer_list<std::string_view> filters) {
  NamedPage named;
  auto others = request;
  if (request.query.count("before") == 1) {
    named.begun_after = request.query.find("before")->second;
    others.query.erase("before");
  }
  TW_TRY(named.page, http::page_of(others, filters));
  return named;
}

Result<http::Reply> list_named(const char* name, std::vector<NamedEntry> all,
                               const NamedPage& named) {
  auto next = all.begin();
  if (!named.begun_after.empty()) {
    next = std::ranges::find(all, named.begun_after, &NamedEntry::name);
    if (next == all.end()) {
      return fail(ErrorCode::not_found,
                  "no entry \"" + named.begun_after.substr(0, 100) + "\" to begin after");
    }
    ++next;
  }
  auto entries = json::array();
  for (; next != all.end() && static_cast<int>(entries.size()) < named.page.limit; ++next) {
    entries.push_back(std::move(next->entry));
  }
  const bool is_last = next == all.end() || entries.empty();
  return list_reply(name, std::move(entries), named.page,
                    is_last ? json(nullptr) : json(std::prev(next)->name));
}

}  // namespace torchwatch::api

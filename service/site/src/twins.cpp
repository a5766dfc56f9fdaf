#include "torchwatch/site/twins.hpp"

#include <array>
#include <utility>

#include "torchwatch/http/problem.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::pages {
namespace {

struct FormFacts {
  Form form;
  std::string_view ending;
  std::string_view type;
};

constexpr std::array kTwins{FormFacts{Form::json, ".json", "application/json"},
                            FormFacts{Form::markdown, ".md", "text/markdown"},
                            FormFacts{Form::csv, ".csv", "text/csv"}};

bool has_form(const Entry& entry, Form form) {
  if (form == Form::json) return !entry.json.empty();
  return form != Form::csv || entry.has_table;
}

/// Fills "{id}" and the like in.
std::string filled(std::string_view path, const http::Request& request) {
  std::string text;
  while (true) {
    const auto begin = path.find('{');
    text += path.substr(0, begin);
    if (begin == std::string_view::npos) return text;
    const auto end = path.find('}', begin);
    text += request.path_parameters.at(std::string(path.substr(begin + 1, end - begin - 1)));
    path.remove_prefix(end + 1);
  }
}

bool is_word_of(std::string_view words, std::string_view word) {
  return (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

/// Whether a page says with the word that it filters nothing, which the API is not asked for.
bool is_no_filter(std::string_view name, std::string_view value) {
  return value == "all" && is_word_of("origin purpose state", name);
}

Result<http::Reply> json_of(const Entry& entry, const View& view) {
  std::multimap<std::string, std::string> query;
  for (const auto& [name, value] : view.request.query) {
    if (is_word_of(entry.own_parameters, name) || is_no_filter(name, value)) continue;
    query.emplace(name, value);
  }
  if (entry.json_query != nullptr) {
    TW_TRY(auto more, entry.json_query(view));
    query.merge(more);
  }
  return ask(view, filled(entry.json, view.request), query);
}

Result<http::Reply> csv_of(const Page& page, const View& view) {
  if (page.csv) return http::Reply{200, "text/csv; charset=utf-8", html::csv_of(*page.csv), {}};
  if (page.content.tables.empty()) {
    return fail(ErrorCode::not_found, view.request.path.substr(0, 200) + " has no table now");
  }
  return http::Reply{200, "text/csv; charset=utf-8", html::csv_of(page.content.tables.front()), {}};
}

http::Reply markdown_of(const Page& page) {
  const auto& text = page.markdown.empty() ? page.content.markdown : page.markdown;
  return {200, "text/markdown; charset=utf-8", text, {}};
}

/// The addresses of the page's other forms, as seen from the page.
std::vector<html::Alternate> alternates_of(const Entry& entry, const View& view) {
  const auto& path = view.request.path;
  auto name = http::percent_encoded(path.substr(path.rfind('/') + 1));
  if (name.empty()) name = "index";
  const auto query = view.query_with("", "");
  std::vector<html::Alternate> alternates;
  for (const auto& twin : kTwins) {
    if (!has_form(entry, twin.form)) continue;
    alternates.push_back({std::string(twin.type), name + std::string(twin.ending) + query});
  }
  return alternates;
}

/// Says on a page what is wrong with the request.
http::Reply error_page(const Error& error, const View& view) {
  const auto status = http::status_of(error.code);
  const auto title = status == 404 ? std::string("Not found") : http::title_of(status);
  return framed(
      view,
      {.title = title,
       .content = html::title(title) + html::paragraph(html::text(printable(error.text()) + ".")),
       .status = status},
      {});
}

bool is_about_request(const Error& error) {
  return error.code == ErrorCode::not_found || error.code == ErrorCode::invalid;
}

}  // namespace

std::string_view ending_of(Form form) {
  for (const auto& twin : kTwins) {
    if (twin.form == form) return twin.ending;
  }
  return "";
}

std::pair<std::string, Form> split_ending(const std::string& path) {
  for (const auto& twin : kTwins) {
    if (path.size() > twin.ending.size() && path.ends_with(twin.ending)) {
      return {path.substr(0, path.size() - twin.ending.size()), twin.form};
    }
  }
  return {path, Form::html};
}

Result<http::Reply> reply_for(const Entry& entry, Form form, const View& view,
                              const std::optional<Page>& made) {
  if (!has_form(entry, form)) {
    return fail(ErrorCode::not_found,
                view.request.path.substr(0, 200) + " has no form " + std::string(ending_of(form)));
  }
  if (form == Form::json) return json_of(entry, view);
  const auto page = made ? Result<Page>(*made) : entry.make(view);
  if (!page && form == Form::html && is_about_request(page.error())) {
    return error_page(page.error(), view);
  }
  if (!page) return fail(page.error());
  if (form == Form::markdown) return markdown_of(*page);
  if (form == Form::csv) return csv_of(*page, view);
  return framed(view, *page, alternates_of(entry, view));
}

}  // namespace torchwatch::pages

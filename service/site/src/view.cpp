#include "torchwatch/site/view.hpp"

#include <algorithm>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/html/quoting.hpp"
#include "torchwatch/lookup/lookup.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/site/twins.hpp"

namespace torchwatch::pages {
namespace {

using html::Place;

std::vector<Place> bar_of(const std::string& root) {
  return {{root + "./", "Tonight"},          {root + "comparisons", "Comparisons"},
          {root + "incidents", "Incidents"}, {root + "models", "Models"},
          {root + "builds", "Builds"},       {root + "machines", "Machines"}};
}

/// Who is signed in, with a button that ends it; else where to sign in, and come back from.
html::Fragment account_of(const View& view) {
  const auto& request = view.request;
  if (!request.signed_in) {
    const auto here = request.path + view.query_with("", "");
    return html::paragraph(
        html::link(view.root + "sign-in?to=" + http::percent_encoded(here), "Sign in"), "account");
  }
  return {"<form class=\"account\" method=\"post\" action=\"" + html::escaped(view.root) +
              "sign-out\">\n<input type=\"hidden\" name=\"key\" value=\"" +
              html::escaped(request.signed_in->form_key) + "\">\n<span>Signed in with " +
              html::escaped(request.token_name) +
              "</span>\n<button type=\"submit\">Sign out</button>\n</form>\n",
          "",
          {}};
}

/// Whether the script reads the page for one that is open.
bool is_read_along(const http::Request& request) {
  return request.if_none_match.starts_with("\"live\"");
}

/// What was left to say to who is signed in: on the next page that is opened.
html::Fragment note_of(const View& view) {
  if (is_read_along(view.request)) return {};
  const auto note = view.sources.take_note ? view.sources.take_note(view.request) : std::string();
  if (note.empty()) return {};
  return {
      "<p class=\"summary good\" role=\"status\">" + html::escaped_prose(note) + "</p>\n", "", {}};
}

/// Links with a blank between.
html::Fragment links_of(std::string_view before, const std::vector<Place>& places,
                        const std::string& root) {
  auto line = html::text(before);
  for (const auto& place : places) {
    if (&place != &places.front()) line += html::text(", ");
    line += html::link(root + place.address, place.name);
  }
  return html::paragraph(line);
}

/// "The newest verdicts came 5 h 12 min ago." Says nothing where that cannot be read.
std::string age_of_data(const View& view) {
  const auto newest = report::newest_nightly(view.sources.database);
  if (!newest || !newest->judged) return "No nightly has a verdict yet.";
  constexpr double kSecond = 1000;
  const auto age = view.sources.clock.wall_now() - newest->judged->ended_at;
  if (newest->judged->ended_at == 0) return "The newest verdicts are not reported yet.";
  return "The newest verdicts came " + figures::age(static_cast<double>(age) / kSecond) + ".";
}

html::Fragment footer_of(const View& view) {
  return links_of("Also: ",
                  {{"bisections", "bisections"},
                   {"queue", "queue"},
                   {"outbox", "outbox"},
                   {"gpu", "what the GPU does"},
                   {"coverage", "coverage of operators"},
                   {"help", "help and words"}},
                  view.root) +
         links_of("For programs: ",
                  {{"api/v1/comparisons", "comparisons"},
                   {"api/v1/incidents", "incidents"},
                   {"api/v1/bisections", "bisections"},
                   {"api/v1/builds", "builds"},
                   {"api/v1/self-tests", "self-tests"},
                   {"api/v1/openapi.json", "their description"},
                   {"healthz", "health"}},
                  view.root) +
         html::paragraph(html::text("torchwatch " + std::string(report::program_version()) + ". " +
                                    age_of_data(view) + " All times are UTC."));
}

/// A form of ours is sent with our Origin only where the page's address may be told to ourselves.
http::Reply html_reply(int status, std::string body) {
  return {.status = status,
          .content_type = "text/html; charset=utf-8",
          .body = std::move(body),
          .headers = {{"Referrer-Policy", "same-origin"}}};
}

/// What the search field holds again; nothing of what is too long for it.
std::string searched_text(const std::string& given) {
  return characters_of(given) > lookup::kSearchMax ? "" : printable(given);
}

}  // namespace

std::string View::to_incident(storage::Id id) const {
  return root + "incidents/" + std::to_string(id);
}

std::string View::to_comparison(storage::Id id) const {
  return root + "comparisons/" + std::to_string(id);
}

std::string View::to_trace(storage::Id run) const {
  return root + "traces/" + std::to_string(run);
}

std::string View::to_build(storage::Id id) const {
  return root + "builds/" + std::to_string(id);
}

std::string View::to_bisection(storage::Id id) const {
  return root + "bisections/" + std::to_string(id);
}

std::string View::to_series(const Series& series) const {
  const auto& [workload, configuration, variant] = series.benchmark;
  return root + "series/" + http::percent_encoded(workload) + "/" + to_string(configuration) + "/" +
         http::percent_encoded(to_string(variant)) + "/" + std::string(to_string(series.metric));
}

std::string View::to_model(const std::string& workload) const {
  return root + "models/" + http::percent_encoded(workload);
}

std::string View::to_commit(const std::string& sha) const {
  return report::commit_address(sources.commits_address, sha);
}

std::string View::to_range(const std::string& from, const std::string& to) const {
  const bool are_known = !to_commit(from).empty() && !to_commit(to).empty();
  return are_known ? sources.commits_address + "/compare/" + from + "..." + to : "";
}

std::string View::to_pull(const std::string& number) const {
  return sources.commits_address.empty() ? "" : sources.commits_address + "/pull/" + number;
}

std::string View::to_issue(std::int64_t number) const {
  return sources.issues_address.empty()
             ? ""
             : sources.issues_address + "/issues/" + std::to_string(number);
}

std::string View::query_with(std::string_view name, std::string_view value) const {
  std::string query;
  const auto add = [&query](std::string_view key, std::string_view of) {
    query += (query.empty() ? "?" : "&") + std::string(key) + "=";
    query += http::percent_encoded(std::string(of));
  };
  for (const auto& [key, of] : request.query) {
    if (key != name) add(key, of);
  }
  if (!value.empty()) add(name, value);
  return query;
}

std::string View::with_parameter(std::string_view name, std::string_view value) const {
  const auto query = query_with(name, value);
  if (!query.empty()) return query;
  const auto own = http::percent_encoded(request.path.substr(request.path.rfind('/') + 1));
  return own.empty() ? "./" : own;
}

View view_of(const http::Request& request, const Sources& sources, std::string root) {
  return {.sources = sources,
          .request = request,
          .is_trusted = request.is_trusted,
          .root = std::move(root),
          .service_now = sources.service_now ? sources.service_now() : health::Report{},
          .confidence = sources.confidence};
}

Result<http::Reply> ask(const View& view, const std::string& path,
                        const std::multimap<std::string, std::string>& query) {
  auto request = view.request;
  request.path = path;
  request.query = query;
  const auto found = http::match(view.sources.api, request);
  // What readers may not read is not found for them by a page either.
  if (!found || found->route->scope != Scope::read) {
    return fail(ErrorCode::not_found, "nothing at " + path.substr(0, 200));
  }
  request.path_parameters = found->parameters;
  return found->route->handler(request);
}

Result<nlohmann::json> ask_for_json(const View& view, const std::string& path,
                                    const std::multimap<std::string, std::string>& query) {
  TW_TRY(const auto reply, ask(view, path, query));
  auto body = nlohmann::json::parse(reply.body, nullptr, false);
  if (body.is_discarded()) return fail(ErrorCode::internal, "no JSON at " + path);
  return body;
}

Result<std::map<std::string, std::string>> parameters_of(
    const View& view, std::initializer_list<std::string_view> known) {
  return http::filters_of(view.request, known);
}

std::string value_or(const std::map<std::string, std::string>& parameters, const std::string& name,
                     std::string_view otherwise) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string(otherwise) : found->second;
}

Status check_choice(std::string_view what, std::string_view given,
                    const std::vector<std::string>& words) {
  if (std::ranges::find(words, given) != words.end()) return {};
  std::string allowed;
  for (const auto& word : words) allowed += (allowed.empty() ? "" : ", ") + word;
  return fail(ErrorCode::invalid, "invalid " + std::string(what) + " \"" +
                                      std::string(given.substr(0, 100)) + "\": must be one of " +
                                      allowed);
}

html::Fragment choice(const View& view, std::string_view name, std::string_view present,
                      std::string_view otherwise, const std::vector<std::string>& words) {
  auto line = html::text(std::string(name) + ": ");
  for (const auto& word : words) {
    if (&word != &words.front()) line += html::text(" · ");
    const bool is_default = word == otherwise;
    line +=
        word == present
            ? html::Fragment{"<strong aria-current=\"true\">" + html::text(word).html + "</strong>",
                             html::text(word).markdown,
                             {}}
            : html::link(view.with_parameter(name, is_default ? "" : word), word);
  }
  return html::paragraph(line, "choice");
}

Result<html::Fragment> sorted_table(const View& view, html::Table table,
                                    std::string_view otherwise) {
  const auto given = view.request.query.find("sort");
  if (given != view.request.query.end()) table.sorted_by = given->second;
  TW_TRY_VOID(html::sort(table));
  const auto others = view.query_with("sort", "");
  table.sort_address = others + (others.empty() ? "?sort=" : "&sort=");
  return html::table(std::move(table), otherwise);
}

std::string root_of(std::string_view path) {
  std::string root;
  for (auto slashes = std::ranges::count(path, '/'); slashes > 1; --slashes) root += "../";
  return root;
}

http::Reply framed(const View& view, const Page& page, std::vector<html::Alternate> alternates) {
  const auto given = view.request.query.find("q");
  const bool is_search = view.request.path == "/search" && given != view.request.query.end();
  html::Frame frame{.title = page.title.empty() ? "torchwatch" : page.title + " - torchwatch",
                    .root = view.root,
                    .bar = bar_of(view.root),
                    .current = page.section,
                    .way = page.way,
                    .alternates = std::move(alternates),
                    .searched = is_search ? searched_text(given->second) : "",
                    .assets = view.sources.assets.empty() ? "" : view.root + view.sources.assets,
                    .account = account_of(view),
                    .footer = footer_of(view)};
  frame.alternates.push_back({"application/atom+xml", view.root + "incidents.atom"});
  if (!page.title.empty()) {
    frame.way.insert(frame.way.begin(), {view.root + "./", "Tonight"});
    frame.way.push_back({"", page.title});
  }
  return html_reply(page.status, html::page_of(frame, note_of(view) + page.content));
}

http::Reply bare(const std::string& root, const Page& page) {
  const html::Frame frame{
      .title = page.title + " - torchwatch", .root = root, .bar = bar_of(root), .footer = {}};
  return html_reply(page.status, html::page_of(frame, page.content));
}

std::optional<http::Reply> problem_page(const http::Reply& problem, const std::string& target) {
  constexpr std::size_t kDepthMax = 512;
  const auto path = target.substr(0, target.find('?'));
  const bool is_for_programs = path.starts_with("/api/") || path == "/metrics" ||
                               path == "/healthz" || split_ending(path).second != Form::html;
  if (is_for_programs) return std::nullopt;
  const auto said = nlohmann::json::parse(problem.body, nullptr, false);
  if (!said.is_object()) return std::nullopt;
  const auto root = path.size() > kDepthMax ? std::string("/") : root_of(path);
  const auto title =
      problem.status == 404 ? std::string("Not found") : said.value("title", "Error");
  auto content =
      html::title(title) + html::paragraph(html::text(printable(said.value("detail", "")) + "."));
  const auto remedy = said.find("remedy");
  if (problem.status == 401) {
    content += html::paragraph(
        html::link(root + "sign-in?to=" + http::percent_encoded(target), "Sign in") +
        html::text(" with a token to read here; `torchwatch token create NAME --scopes read` "
                   "makes one."));
  } else if (remedy != said.end() && remedy->is_string()) {
    content += html::paragraph(html::text("What to do: " + remedy->get<std::string>() + "."));
  }
  return bare(root, {.title = title, .content = content, .status = problem.status});
}

}  // namespace torchwatch::pages

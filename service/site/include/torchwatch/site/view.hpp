#pragma once

#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/html/page.hpp"
#include "torchwatch/http/exchange.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/site/sources.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::pages {

/// The page that is made: what it reads, and who sees it. Strangers do not see folders of builds
/// and reasons with paths.
struct View {
  const Sources& sources;
  const http::Request& request;
  bool is_trusted = false;
  std::string root;                 ///< the way to the overview: "" or "../"
  health::Report service_now = {};  ///< as it was when the page was asked for
  double confidence = 0.99;         ///< of the intervals on this page
  bool is_for_csv = false;          ///< it is made for its table, which has every row then

  std::string to_incident(storage::Id) const;
  std::string to_comparison(storage::Id) const;
  std::string to_build(storage::Id) const;
  std::string to_bisection(storage::Id) const;
  std::string to_series(const Series&) const;
  std::string to_trace(storage::Id run) const;
  std::string to_model(const std::string& workload) const;
  std::string to_commit(const std::string& sha) const;  ///< empty: commits are not linked
  std::string to_range(const std::string& from, const std::string& to) const;  ///< likewise
  std::string to_pull(const std::string& number) const;  ///< empty: commits are not linked
  std::string to_issue(std::int64_t number) const;       ///< empty: issues are not linked

  /// Returns the query of this page with another value of a parameter, "?metric=time&only=lost";
  /// without the parameter where the value is empty, which is how defaults are left out.
  std::string query_with(std::string_view name, std::string_view value) const;
  /// Returns the address of this page with that query, as seen from the page.
  std::string with_parameter(std::string_view name, std::string_view value) const;
};

/// Returns the page that a request asks for, `root` being the way from it to the overview.
View view_of(const http::Request&, const Sources&, std::string root);

/// A page before it is put into its frame.
struct Page {
  std::string title;                    ///< of the browser's window, without the program's name
  html::Fragment content;               ///< has one html::title
  std::string section = {};             ///< the entry of the top bar that it belongs to
  std::vector<html::Place> way = {};    ///< between the overview and the page
  std::string markdown = {};            ///< what `.md` shows instead of the content; may be empty
  std::optional<html::Table> csv = {};  ///< what `.csv` has instead of the first table
  int status = 200;
};

/// Asks the API as the page's reader. Errors: those of the endpoint; not_found, when there is no
/// such endpoint.
Result<http::Reply> ask(const View&, const std::string& path,
                        const std::multimap<std::string, std::string>& query = {});
Result<nlohmann::json> ask_for_json(const View&, const std::string& path,
                                    const std::multimap<std::string, std::string>& query = {});

/// Reads the page's own parameters. Errors: invalid, for any other, `limit` and `before` too.
Result<std::map<std::string, std::string>> parameters_of(
    const View&, std::initializer_list<std::string_view> known);

/// Returns the value of a parameter; the default where it was not given.
std::string value_or(const std::map<std::string, std::string>&, const std::string& name,
                     std::string_view otherwise);

/// Refuses what is not one of the words. Errors: invalid, with all words.
Status check_choice(std::string_view what, std::string_view given,
                    const std::vector<std::string>& words);

/// Makes links to this page with each value of a parameter; the present one is not linked.
html::Fragment choice(const View&, std::string_view name, std::string_view present,
                      std::string_view otherwise, const std::vector<std::string>& words);

/// Makes a table that its headings sort, as ?sort= asks. Errors: invalid.
Result<html::Fragment> sorted_table(const View&, html::Table, std::string_view otherwise = "None.");

/// Returns the way from a path back to the overview: "../" for "/incidents/7".
std::string root_of(std::string_view path);

/// Puts a page into the frame of all pages, below what was left to say to who is signed in.
/// `alternates`: the page's other forms.
http::Reply framed(const View&, const Page&, std::vector<html::Alternate> alternates);

/// Puts a page into a frame that shows nothing of what is stored, for who may not read, and for
/// when it cannot be read.
http::Reply bare(const std::string& root, const Page&);

/// Makes a page of a problem for a browser that asked for that path and query; nothing where the
/// path is one for programs.
std::optional<http::Reply> problem_page(const http::Reply& problem, const std::string& target);

}  // namespace torchwatch::pages

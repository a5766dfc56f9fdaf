#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/site/view.hpp"

namespace torchwatch::pages {

/// A page of the table of pages.
struct Entry {
  std::string_view path;  ///< "/incidents/{id}"
  Result<Page> (*make)(const View&);
  /// The API's path with the same content; its parameters are those of the page's path. Empty:
  /// there is none.
  std::string_view json = {};
  /// The parameters of the page alone, separated by blanks. The API gets all others, and refuses
  /// what it does not know.
  std::string_view own_parameters = {};
  bool has_table = true;
  /// What more the API is asked with, as the page's address says it. Errors: those of the page.
  Result<std::multimap<std::string, std::string>> (*json_query)(const View&) = nullptr;
};

/// In which form a page is asked for.
enum class Form { html, json, markdown, csv };

/// The ending of a form's address: ".json"; empty for HTML.
std::string_view ending_of(Form);

/// Splits the ending off a path: "12.json" is "12" as JSON.
std::pair<std::string, Form> split_ending(const std::string& path);

/// Makes the reply to a request for a page, whose path has no ending any more. `made`: the page, if
/// it was made before. Errors: those of the page, for a form that is not HTML; HTML shows those
/// that are about the request as a page.
Result<http::Reply> reply_for(const Entry&, Form, const View&,
                              const std::optional<Page>& made = {});

}  // namespace torchwatch::pages

#pragma once

#include <string>
#include <vector>

/// Addresses of every kind of page, on what Api::fill stores.
extern const std::vector<std::string> kPages;
extern const std::string kSeriesPage;

std::size_t count(const std::string& text, const std::string& part);

/// The tags of a page, as they stand between "<" and ">".
std::vector<std::string> tags_of(const std::string& html);

/// The first tag that is closed wrongly, or not at all; empty where the page is well formed.
std::string wrong_tag(const std::string& html);

/// Addresses of `<link rel="alternate">`, from the root.
std::vector<std::string> alternates_of(const std::string& page, const std::string& html);

/// Addresses of this service to which a page links, from the root.
std::vector<std::string> links_of(const std::string& page, const std::string& html);

/// What of a page a browser would run, or load from elsewhere; empty where there is nothing.
std::string harm_in_html(const std::string& html);
/// What a picture would run or load, or where it is malformed; empty where there is nothing.
std::string harm_in_svg(const std::string& svg);
/// A cell of CSV that a spreadsheet would take for a formula; empty where there is none.
std::string harm_in_csv(const std::string& csv);
/// Markup, a mention or an address that would be followed, outside of code; empty where there is
/// none.
std::string harm_in_markdown(const std::string& markdown);

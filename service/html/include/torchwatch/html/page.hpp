#pragma once

#include <string>
#include <utility>
#include <vector>

#include "torchwatch/html/fragment.hpp"

namespace torchwatch::html {

/// A place that a page links: its address and its name.
struct Place {
  std::string address;
  std::string name;
};

/// A page's other forms.
struct Alternate {
  std::string type;  ///< "text/csv"
  std::string address;
};

/// What stands around the content of a page.
struct Frame {
  std::string title;
  std::string root = {};        ///< the way from its address to the overview: "" or "../"
  std::vector<Place> bar = {};  ///< the entries of the top bar
  std::string current = {};     ///< the name of the entry that the page belongs to
  std::vector<Place> way = {};  ///< from the overview to the page, which is not linked
  std::vector<Alternate> alternates = {};
  std::string searched = {};  ///< what the search field holds
  std::string assets = {};    ///< the folder of the script, as seen from the page; empty: none
  Fragment account = {};      ///< who is signed in, or where to sign in
  Fragment footer = {};
};

/// Makes a page of HTML. It loads its style sheet and, where there is one, the script of all pages;
/// it needs no script.
std::string page_of(const Frame&, const Fragment& content);

}  // namespace torchwatch::html

#include "torchwatch/html/search.hpp"

#include "torchwatch/html/quoting.hpp"

namespace torchwatch::html {

Fragment search(std::string_view address, std::string_view parameter, std::string_view label,
                std::string_view typed,
                const std::vector<std::pair<std::string_view, std::string>>& others) {
  const auto name = escaped(parameter);
  auto form = "<form class=\"search\" role=\"search\" aria-label=\"" + escaped(label) +
              "\" method=\"get\" action=\"" + escaped(address) + "\">\n<label for=\"search-" +
              name + "\">" + escaped(label) + "</label>\n<input id=\"search-" + name +
              "\" type=\"search\" name=\"" + name + "\" maxlength=\"200\" value=\"" +
              escaped(typed) + "\">\n";
  for (const auto& [other, value] : others) {
    if (value.empty()) continue;
    form += "<input type=\"hidden\" name=\"" + escaped(other) + "\" value=\"" + escaped(value) +
            "\">\n";
  }
  return {form + "<button type=\"submit\">Find</button>\n</form>\n", "", {}};
}

}  // namespace torchwatch::html

#include "torchwatch/html/choices.hpp"

#include "torchwatch/html/quoting.hpp"

namespace torchwatch::html {
namespace {

std::string select_of(const Choice& choice) {
  const auto name = escaped(choice.parameter);
  auto text = "<p><label for=\"choose-" + name + "\">" + escaped(choice.label) +
              "</label>\n<select id=\"choose-" + name + "\" name=\"" + name + "\">\n";
  for (const auto& [value, words] : choice.values) {
    text += "<option value=\"" + escaped(value) + "\"" +
            (value == choice.chosen ? " selected" : "") + ">" + escaped(words) + "</option>\n";
  }
  return text + "</select></p>\n";
}

}  // namespace

Fragment choices(std::string_view address, std::string_view label,
                 const std::vector<Choice>& choices, std::string_view button) {
  auto form = "<form class=\"choices\" aria-label=\"" + escaped(label) +
              "\" method=\"get\" action=\"" + escaped(address) + "\">\n";
  for (const auto& choice : choices) form += select_of(choice);
  return {
      form + "<p><button type=\"submit\">" + escaped(button) + "</button></p>\n</form>\n", "", {}};
}

}  // namespace torchwatch::html

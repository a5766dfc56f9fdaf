#include "torchwatch/values/value_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <sstream>

#include "torchwatch/values/units.hpp"

namespace torchwatch::config {
namespace {

// A type of TOML in the words of people who write it.
std::string kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "table";
    case toml::node_type::array:
      return "list";
    case toml::node_type::string:
      return "string";
    case toml::node_type::integer:
      return "whole number";
    case toml::node_type::floating_point:
      return "number";
    case toml::node_type::boolean:
      return "truth value";
    case toml::node_type::date:
      return "date";
    case toml::node_type::time:
      return "time of day";
    case toml::node_type::date_time:
      return "date and time";
    case toml::node_type::none:
      break;
  }
  return "value";
}

tl::unexpected<Error> invalid(const std::string& what, std::string_view wanted) {
  return fail(ErrorCode::invalid, "invalid " + what + ": must be " + std::string(wanted));
}

std::string in_quotes(const std::string& text) {
  std::ostringstream out;
  const toml::value<std::string> value{text};
  out << toml::toml_formatter{value, toml::format_flags::none};  // "double", never 'single' quotes
  return out.str();
}

/// The value as it stands in the file, with its type; of lists and tables the type alone.
tl::unexpected<Error> wrong_type(const toml::node& node, std::string_view wanted) {
  if (!node.is_value()) return invalid(kind_of(node), wanted);
  std::ostringstream value;
  node.visit(
      [&](const auto& exact) { value << toml::toml_formatter{exact, toml::format_flags::none}; });
  return invalid(kind_of(node) + " " + value.str(), wanted);
}

Result<std::chrono::milliseconds> read_duration(const toml::node& node) {
  constexpr std::string_view kWanted = R"(a duration: "30d", "4h", "30m", "90s" or "500ms")";
  const auto text = node.value_exact<std::string>();
  if (!text) return wrong_type(node, kWanted);
  const auto duration = parse_duration(*text);
  if (!duration) return invalid("value " + in_quotes(*text), kWanted);
  return *duration;
}

template <typename List>
std::string write_list(const List& list) {
  std::string text;
  for (const auto& element : list) text += (text.empty() ? "" : ", ") + in_quotes(element);
  return "[" + text + "]";
}

template <typename List>
std::string write_words(const List& list) {
  std::vector<std::string> words;
  for (const auto& element : list) words.emplace_back(to_string(element));
  return write_list(words);
}

template <typename T>
Status read_words(const toml::node& node, std::string_view wanted,
                  Result<T> (*parse)(std::string_view), std::vector<T>& value) {
  TW_TRY(const auto words, read_strings(node, wanted));
  return read_each(words, parse, value);
}

}  // namespace

Result<std::vector<std::string>> read_strings(const toml::node& node, std::string_view wanted) {
  const auto* array = node.as_array();
  if (array == nullptr) return wrong_type(node, wanted);
  std::vector<std::string> strings;
  for (const auto& element : *array) {
    const auto text = element.value_exact<std::string>();
    if (!text) return invalid(kind_of(element) + " in the list", wanted);
    strings.push_back(*text);
  }
  return strings;
}

std::string type_of(const std::string&) {
  return "string";
}
std::string type_of(const std::filesystem::path&) {
  return "path";
}
std::string type_of(int) {
  return "whole number";
}
std::string type_of(double) {
  return "number";
}
std::string type_of(bool) {
  return "true or false";
}
std::string type_of(std::int64_t) {
  return "size";
}
std::string type_of(std::chrono::seconds) {
  return "duration";
}
std::string type_of(std::chrono::milliseconds) {
  return "duration";
}
std::string type_of(const std::vector<std::filesystem::path>&) {
  return "list of paths";
}
std::string type_of(Preset) {
  return "word";
}
std::string type_of(log::Level) {
  return "word";
}
std::string type_of(log::Format) {
  return "word";
}
std::string type_of(const std::vector<std::string>&) {
  return "list of strings";
}
std::string type_of(const std::vector<Configuration>&) {
  return "list of configurations";
}

std::string type_of(const std::vector<Variant>&) {
  return "list of variants";
}

Status read(const toml::node& node, std::string& value) {
  const auto text = node.value_exact<std::string>();
  if (!text) return wrong_type(node, "a string in quotes");
  if (text->find('\0') != std::string::npos) return invalid("string", "without a zero byte");
  value = *text;
  return {};
}

Status read(const toml::node& node, std::filesystem::path& value) {
  std::string text;
  TW_TRY_VOID(read(node, text));
  value = text;
  return {};
}

Status read(const toml::node& node, int& value) {
  const auto number = node.value_exact<std::int64_t>();
  if (!number) return wrong_type(node, "a whole number");
  if (*number < std::numeric_limits<int>::min() || *number > std::numeric_limits<int>::max()) {
    return invalid("value " + std::to_string(*number), "a number of fewer digits");
  }
  value = static_cast<int>(*number);
  return {};
}

Status read(const toml::node& node, double& value) {
  if (!node.is_number()) return wrong_type(node, "a number");
  value = node.value<double>().value_or(std::numeric_limits<double>::quiet_NaN());
  return {};
}

Status read(const toml::node& node, bool& value) {
  const auto flag = node.value_exact<bool>();
  if (!flag) return wrong_type(node, "true or false");
  value = *flag;
  return {};
}

Status read(const toml::node& node, std::int64_t& value) {
  constexpr std::string_view kWanted = R"(a size: "40GiB", "512MiB", "40GB" or whole bytes)";
  if (const auto bytes = node.value_exact<std::int64_t>()) {
    value = *bytes;
    return {};
  }
  const auto text = node.value_exact<std::string>();
  if (!text) return wrong_type(node, kWanted);
  const auto size = parse_size(*text);
  if (!size) return invalid("value " + in_quotes(*text), kWanted);
  value = *size;
  return {};
}

Status read(const toml::node& node, std::chrono::milliseconds& value) {
  TW_TRY(value, read_duration(node));
  return {};
}

Status read(const toml::node& node, std::chrono::seconds& value) {
  TW_TRY(const auto duration, read_duration(node));
  value = std::chrono::duration_cast<std::chrono::seconds>(duration);
  if (value == duration) return {};
  return invalid("value \"" + format_duration(duration) + "\"", "in whole seconds");
}

Status read(const toml::node& node, std::vector<std::filesystem::path>& value) {
  TW_TRY(const auto texts, read_strings(node, R"(a list of paths: ["/opt/tools"])"));
  value.assign(texts.begin(), texts.end());
  return {};
}

Status read(const toml::node& node, Preset& value) {
  std::string text;
  TW_TRY_VOID(read(node, text));
  TW_TRY(value, parse_preset(text));
  return {};
}

Status read(const toml::node& node, log::Level& value) {
  std::string text;
  TW_TRY_VOID(read(node, text));
  TW_TRY(value, log::parse_level(text));
  return {};
}

Status read(const toml::node& node, log::Format& value) {
  std::string text;
  TW_TRY_VOID(read(node, text));
  TW_TRY(value, log::parse_format(text));
  return {};
}

Status read(const toml::node& node, std::vector<std::string>& value) {
  TW_TRY(value, read_strings(node, R"(a list of strings: ["a", "b"])"));
  return {};
}

Status read(const toml::node& node, std::vector<Configuration>& value) {
  return read_words(node, R"(a list of configurations: ["cpu-train", "cpu-infer"])",
                    parse_configuration, value);
}

Status read(const toml::node& node, std::vector<Variant>& value) {
  return read_words(node, R"(a list of variants: ["default", "bf16,batch=8"])", parse_variant,
                    value);
}

std::string write(const std::string& value) {
  return in_quotes(value);
}
std::string write(const std::filesystem::path& value) {
  return in_quotes(value.string());
}
std::string write(int value) {
  return std::to_string(value);
}
std::string write(bool value) {
  return value ? "true" : "false";
}
std::string write(std::chrono::seconds value) {
  return write(std::chrono::duration_cast<std::chrono::milliseconds>(value));
}
std::string write(std::chrono::milliseconds value) {
  return in_quotes(format_duration(value));
}
std::string write(Preset value) {
  return in_quotes(std::string(to_string(value)));
}

std::string write(log::Level value) {
  return in_quotes(std::string(spelling(value)));
}

std::string write(log::Format value) {
  return in_quotes(std::string(spelling(value)));
}
std::string write(const std::vector<std::string>& value) {
  return write_list(value);
}

std::string write(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string write(std::int64_t bytes) {
  const std::string text = format_size(bytes);
  return text == std::to_string(bytes) ? text : in_quotes(text);
}

std::string write(const std::vector<std::filesystem::path>& value) {
  return write_list(std::vector<std::string>(value.begin(), value.end()));
}

std::string write(const std::vector<Configuration>& value) {
  return write_words(value);
}
std::string write(const std::vector<Variant>& value) {
  return write_words(value);
}

Status read(const toml::node& node, Device& value) {
  std::string word;
  TW_TRY_VOID(read(node, word));
  TW_TRY(value, parse_device(word));
  return {};
}

Status read(const toml::node& node, std::vector<Mode>& value) {
  return read_words(node, R"(a list of modes: ["train", "infer"])", parse_mode, value);
}

Status read(const toml::node& node, std::vector<Metric>& value) {
  return read_words(node, R"(a list of metrics: ["time", "cpu_peak"])", parse_judged_metric, value);
}

std::string write(Device value) {
  return in_quotes(std::string(to_string(value)));
}
std::string write(const std::vector<Mode>& value) {
  return write_words(value);
}
std::string write(const std::vector<Metric>& value) {
  return write_words(value);
}

}  // namespace torchwatch::config

#include "tables.hpp"

namespace torchwatch::config {
namespace {

template <typename T>
Status read_words(const toml::node& node, Result<T> (*parse)(std::string_view),
                  std::vector<T>& value) {
  std::vector<std::string> words;
  TW_TRY_VOID(read(node, words));
  return read_each(words, parse, value);
}

template <typename T>
std::string write_words(const std::vector<T>& list) {
  std::vector<std::string> words;
  for (const auto each : list) words.emplace_back(to_string(each));
  return write(words);
}

template <typename T>
Allowed<std::vector<T>> some_of(std::string words) {
  return {std::move(words),
          [](const std::vector<T>& list) { return !list.empty() && is_distinct(list); }};
}

/// The program is looked for nowhere: what is measured must not depend on a search path.
Allowed<std::vector<std::string>> command_words() {
  return {"a program's path, absolute or beginning with ./ or ../, then its arguments",
          [](const std::vector<std::string>& words) {
            return !words.empty() && words.front().find('/') != std::string::npos;
          }};
}

bool is_relative_path(const std::string& word) {
  return word.starts_with("./") || word.starts_with("../");
}

void resolve_command(const std::filesystem::path& folder, ExternalWorkload& workload) {
  for (auto& word : workload.command) {
    const bool is_program = &word == &workload.command.front();
    if (is_program || is_relative_path(word)) word = (folder / word).lexically_normal().string();
  }
}

Fields<ExternalWorkload> fields() {
  using W = ExternalWorkload;
  Fields<W> fields{
      field("name", &W::name, plain_name()),
      field("command", &W::command, command_words()),
      field("metrics", &W::metrics,
            some_of<Metric>("one or more of time, device_time, cpu_peak, device_peak, "
                            "cpu_peak_resident, device_peak_total, leak_growth, leak_retained, "
                            "heap_growth, each once")),
      field("device", &W::device, words_of<Device>("cpu, cuda"), Need::optional),
      field("modes", &W::modes, some_of<Mode>("one or both of train, infer"), Need::optional),
      field("readable", &W::readable, paths(), Need::optional)};
  fields[1].resolve = resolve_command;
  return fields;
}

Status check_metrics(const ExternalWorkload& workload) {
  const auto& known = judged_metrics_of(workload.device);
  for (const auto metric : workload.metrics) {
    if (std::ranges::find(known, metric) != known.end()) continue;
    return fail(ErrorCode::invalid, "metrics: " + std::string(to_string(metric)) +
                                        " is not measured on " +
                                        std::string(to_string(workload.device)));
  }
  return {};
}

}  // namespace

Status read(const toml::node& node, Device& value) {
  std::string word;
  TW_TRY_VOID(read(node, word));
  TW_TRY(value, parse_device(word));
  return {};
}
Status read(const toml::node& node, std::vector<Mode>& value) {
  return read_words(node, parse_mode, value);
}
Status read(const toml::node& node, std::vector<Metric>& value) {
  return read_words(node, parse_judged_metric, value);
}
std::string write(Device value) {
  return write(std::string(to_string(value)));
}
std::string write(const std::vector<Mode>& value) {
  return write_words(value);
}
std::string write(const std::vector<Metric>& value) {
  return write_words(value);
}

void add_external(std::vector<Key>& table) {
  using C = Config;
  table.push_back(list_of_tables(
      "suite", "external", &C::suite, &C::Suite::externals, fields(),
      "Executables of your own that answer the runner's requests, as workloads of "
      "the suite (docs/external-workloads.md).",
      {.is_alike = [](const ExternalWorkload& one,
                      const ExternalWorkload& other) { return one.name == other.name; },
       .check = check_metrics}));
}

}  // namespace torchwatch::config

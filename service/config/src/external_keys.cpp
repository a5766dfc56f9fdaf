#include "tables.hpp"

namespace torchwatch::config {
namespace {

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
                            "heap_growth, output_difference, each once")),
      field("device", &W::device, words_of<Device>("cpu, cuda"), Need::optional),
      field("modes", &W::modes, some_of<Mode>("one or both of train, infer"), Need::optional),
      field("readable", &W::readable, paths(), Need::optional)};
  fields[1].resolve = resolve_command;
  return fields;
}

Status check_metrics(const ExternalWorkload& workload) {
  const auto has = [](const std::vector<Metric>& metrics, Metric metric) {
    return std::ranges::find(metrics, metric) != metrics.end();
  };
  const auto& known = judged_metrics_of(workload.device);
  for (const auto metric : workload.metrics) {
    if (has(known, metric)) continue;
    return fail(ErrorCode::invalid, "metrics: " + std::string(to_string(metric)) +
                                        " is not measured on " +
                                        std::string(to_string(workload.device)));
  }
  if (has(workload.metrics, Metric::device_time) && !has(workload.metrics, Metric::time)) {
    return fail(ErrorCode::invalid,
                "metrics: device_time needs time beside it: the samples of a run are of its time, "
                "and without them no result is taken");
  }
  return {};
}

}  // namespace

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

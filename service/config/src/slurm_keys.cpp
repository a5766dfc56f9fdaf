#include <array>

#include "tables.hpp"

// What [executor] and [slurm] say of where runs happen.

namespace torchwatch::config {
namespace {

using std::chrono::seconds;

/// Options of sbatch that the service sets itself.
constexpr std::array kOwnOptions{"--job-name",   "--output",    "--error",      "--input",
                                 "--parsable",   "--wait",      "--wrap",       "--array",
                                 "--nodes",      "--ntasks",    "--dependency", "--chdir",
                                 "--export",     "--hold",      "--time",       "--requeue",
                                 "--no-requeue", "--open-mode", "--exclusive",  "--test-only"};

bool is_printable(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

/// A value that becomes part of one argument, or empty.
Allowed<std::string> value_of_option() {
  return {"without spaces; empty: Slurm's own default", is_printable};
}

bool is_of_site(const std::string& option) {
  const auto name = option.substr(0, option.find('='));
  return option.starts_with("--") && is_printable(option) &&
         std::ranges::find(kOwnOptions, name) == kOwnOptions.end();
}

Allowed<std::vector<std::string>> options_of_site() {
  return {
      "options as \"--qos=low\", each once, without those that the service sets itself "
      "(--job-name, --output, --time, --nodes, --export and so on)",
      [](const std::vector<std::string>& list) {
        return is_distinct(list) && std::ranges::all_of(list, is_of_site);
      }};
}

Allowed<int> lanes_at_once() {
  return between(1, 64);
}

Allowed<seconds> time_of_node() {
  return between(seconds(120), 30 * kDay);
}

Allowed<std::filesystem::path> absolute_path() {
  return {"an absolute path", [](const std::filesystem::path& path) { return path.is_absolute(); }};
}

Allowed<std::vector<Configuration>> some_configurations() {
  return {
      "one or more of cpu-train, cpu-infer, cuda-train, cuda-infer, each once",
      [](const std::vector<Configuration>& list) { return !list.empty() && is_distinct(list); }};
}

Fields<SlurmClass> fields_of_class() {
  using S = SlurmClass;
  return {field("name", &S::name, plain_name()),
          field("configurations", &S::configurations, some_configurations()),
          field("partition", &S::partition, value_of_option(), Need::inherited),
          field("constraint", &S::constraint, value_of_option(), Need::inherited),
          field("gres", &S::gres, value_of_option(), Need::inherited),
          field("account", &S::account, value_of_option(), Need::inherited),
          field("exclusive", &S::exclusive, Allowed<bool>{}, Need::inherited),
          field("options", &S::options, options_of_site(), Need::inherited),
          field("lanes", &S::lanes, lanes_at_once(), Need::inherited),
          field("time", &S::time, time_of_node(), Need::inherited)};
}

void add_wishes(std::vector<Key>& table) {
  using C = Config;
  table.push_back(key("slurm", "partition", &C::slurm, &C::Slurm::partition, value_of_option(),
                      "The partition of the nodes that measure."));
  table.push_back(key("slurm", "constraint", &C::slurm, &C::Slurm::constraint, value_of_option(),
                      "The feature by which the nodes are alike: runs on unlike nodes are never "
                      "compared, so all that measure a benchmark are of one kind."));
  table.push_back(key("slurm", "gres", &C::slurm, &C::Slurm::gres, value_of_option(),
                      "Devices of a node, such as gpu:1."));
  table.push_back(key("slurm", "account", &C::slurm, &C::Slurm::account, value_of_option(),
                      "The account that is charged."));
  table.push_back(key("slurm", "exclusive", &C::slurm, &C::Slurm::exclusive, Allowed<bool>{},
                      "Whether a node is held whole. Neighbours disturb what is measured."));
  table.push_back(key("slurm", "options", &C::slurm, &C::Slurm::options, options_of_site(),
                      "Further options of sbatch, such as --qos=low and --nice=100."));
}

}  // namespace

void add_executor_kind(std::vector<Key>& table) {
  using C = Config;
  table.push_back(key("executor", "kind", &C::executor, &C::Executor::kind,
                      words_of<ExecutorKind>("local, slurm"),
                      "Where runs happen. local: on this machine. slurm: on a node of the cluster "
                      "that [slurm] describes (docs/cluster.md)."));
}

void add_slurm(std::vector<Key>& table) {
  using C = Config;
  add_wishes(table);
  table.push_back(key("slurm", "lanes", &C::slurm, &C::Slurm::lanes, lanes_at_once(),
                      "Nodes that are held at once: a comparison is dealt over them."));
  table.push_back(key("slurm", "time", &C::slurm, &C::Slurm::time, time_of_node(),
                      "How long a node is asked for at a time."));
  table.push_back(key("slurm", "idle", &C::slurm, &C::Slurm::idle, between(seconds(60), kDay),
                      "A node without runs for so long is given back, also when torchwatch is "
                      "gone."));
  table.push_back(key("slurm", "queue_limit", &C::slurm, &C::Slurm::queue_limit,
                      between(seconds(10), 30 * kDay),
                      "How long a node, or the cluster's controller, is waited for."));
  table.push_back(key("slurm", "node_scratch", &C::slurm, &C::Slurm::node_scratch, absolute_path(),
                      "Where runs have their working folders on a node: its own disk."));
  table.push_back(key("slurm", "program", &C::slurm, &C::Slurm::program,
                      Allowed<std::filesystem::path>{},
                      "torchwatch-carry as the nodes see it. Empty: beside this program."));
  table.push_back(key("slurm", "copies", &C::slurm, &C::Slurm::copies, Allowed<bool>{},
                      "Whether nodes measure from copies of builds and kits in node_scratch, which "
                      "Slurm brings there once: needed where they do not see the service's."));
  table.push_back(key("slurm", "copies_limit", &C::slurm, &C::Slurm::copies_limit_bytes,
                      between(kGiB, 1024 * 1024 * kGiB),
                      "Size limit of the copies on a node. The least recently used go first."));
  table.push_back(key("slurm", "builds", &C::slurm, &C::Slurm::builds, Allowed<bool>{},
                      "Whether builds of commits are jobs, [build] builders of them at once."));
  table.push_back(key("slurm", "build_options", &C::slurm, &C::Slurm::build_options,
                      options_of_site(),
                      "Options of srun for these jobs, such as --partition=build and "
                      "--cpus-per-task=32."));
  table.push_back(list_of_tables(
      "slurm", "class", &C::slurm, &C::Slurm::classes, fields_of_class(),
      "Machine classes: nodes of one kind and the configurations that they measure, each in one "
      "class. What a class does not give is as in [slurm] (docs/cluster.md)."));
}

}  // namespace torchwatch::config

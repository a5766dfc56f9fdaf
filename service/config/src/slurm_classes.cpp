#include "slurm_classes.hpp"

#include <algorithm>
#include <set>

#include "torchwatch/config/classes.hpp"

namespace torchwatch::config {
namespace {

bool has(const SlurmClass& of, Configuration configuration) {
  return std::ranges::find(of.configurations, configuration) != of.configurations.end();
}

std::string quoted(const std::string& name) {
  return "\"" + name + "\"";
}

/// Takes over from [slurm] what the class's table does not give.
void inherit(const toml::table& given, const Config::Slurm& slurm, SlurmClass& of) {
  const auto take = [&](const char* key, auto& member, const auto& value) {
    if (!given.contains(key)) member = value;
  };
  take("partition", of.partition, slurm.partition);
  take("constraint", of.constraint, slurm.constraint);
  take("gres", of.gres, slurm.gres);
  take("account", of.account, slurm.account);
  take("exclusive", of.exclusive, slurm.exclusive);
  take("options", of.options, slurm.options);
  take("lanes", of.lanes, slurm.lanes);
  take("time", of.time, slurm.time);
}

/// Compares a class with one that stands before it.
void require_apart(const SlurmClass& before, const SlurmClass& of, const toml::source_region& where,
                   Problems& problems) {
  if (of.name == before.name) {
    problems.add(where, "[[slurm.class]] name: there is another class " + quoted(of.name),
                 "give each a name of its own");
    return;
  }
  for (const auto configuration : of.configurations) {
    if (!has(before, configuration)) continue;
    problems.add(where,
                 "[[slurm.class]] configurations: " + to_string(configuration) +
                     " is in the classes " + quoted(before.name) + " and " + quoted(of.name),
                 "leave it in the one whose nodes are to measure it");
  }
}

void require_classes(const std::vector<SlurmClass>& classes,
                     const std::vector<Configuration>& measured, const toml::source_region& where,
                     Problems& problems) {
  for (const auto configuration : measured) {
    const auto has_it = [&](const SlurmClass& of) { return has(of, configuration); };
    if (std::ranges::any_of(classes, has_it)) continue;
    problems.add(where,
                 "[suite] configurations: " + to_string(configuration) +
                     " is in no [[slurm.class]], so no node measures it",
                 "add it to the configurations of a class, or take it out of [suite]");
  }
}

std::vector<Configuration> configurations_of(const std::vector<SlurmClass>& classes) {
  std::set<Configuration> all;
  for (const auto& of : classes) all.insert(of.configurations.begin(), of.configurations.end());
  return {all.begin(), all.end()};
}

}  // namespace

void fit_classes(const toml::table& root, Config& config, Problems& problems) {
  auto& classes = config.slurm.classes;
  const auto* tables = root["slurm"]["class"].as_array();
  // The key's own reading has said what is wrong with a list that it did not take.
  if (tables == nullptr || classes.empty()) return;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto* const given = tables->get_as<toml::table>(i);
    inherit(*given, config.slurm, classes[i]);
    for (std::size_t j = 0; j < i; ++j) {
      require_apart(classes[j], classes[i], given->source(), problems);
    }
  }
  const auto* const measured = root["suite"]["configurations"].node();
  if (measured != nullptr && !config.suite.configurations.empty()) {
    require_classes(classes, config.suite.configurations, measured->source(), problems);
  } else {
    config.suite.configurations = configurations_of(classes);
  }
}

std::vector<SlurmClass> slurm_classes(const Config& config) {
  const auto& slurm = config.slurm;
  if (!slurm.classes.empty()) return slurm.classes;
  return {{.name = {},
           .configurations = {},
           .partition = slurm.partition,
           .constraint = slurm.constraint,
           .gres = slurm.gres,
           .account = slurm.account,
           .exclusive = slurm.exclusive,
           .options = slurm.options,
           .lanes = slurm.lanes,
           .time = slurm.time}};
}

Result<std::string> class_of(const Config& config, Configuration configuration) {
  const auto& classes = config.slurm.classes;
  if (config.executor.kind != ExecutorKind::slurm || classes.empty()) return std::string();
  const auto found =
      std::ranges::find_if(classes, [&](const SlurmClass& of) { return has(of, configuration); });
  if (found != classes.end()) return found->name;
  return fail(ErrorCode::invalid,
              to_string(configuration) + " is in no [[slurm.class]], so no node measures it",
              "add it to the configurations of a class");
}

}  // namespace torchwatch::config

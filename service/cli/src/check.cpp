#include <nlohmann/json.hpp>
#include <ostream>

#include "commands.hpp"
#include "table.hpp"
#include "torchwatch/daemon/fitness.hpp"

namespace torchwatch::cli {
namespace {

const char* to_word(daemon::Fitness fitness) {
  switch (fitness) {
    case daemon::Fitness::good:
      return "good";
    case daemon::Fitness::disturbs:
      return "disturbs";
    case daemon::Fitness::fails:
      return "fails";
  }
  return "";
}

Outcome run_check(const Invocation& invocation) {
  TW_TRY(const auto config, invocation.load_config());
  const auto findings = daemon::check_fitness(config);
  auto status = ExitStatus::done;
  auto array = nlohmann::json::array();
  Table table({{"", Table::Align::left}, {"what"}, {"found"}, {"remedy"}});
  for (const auto& finding : findings) {
    if (finding.fitness == daemon::Fitness::fails) status = ExitStatus::surroundings;
    table.add({to_word(finding.fitness), finding.what, finding.found, finding.remedy});
    array.push_back({{"fitness", to_word(finding.fitness)},
                     {"what", finding.what},
                     {"found", finding.found},
                     {"remedy", finding.remedy}});
  }
  if (invocation.json) {
    invocation.out << nlohmann::json{{"findings", array}}.dump(2) << '\n';
  } else {
    table.print(invocation.out);
  }
  return status;
}

}  // namespace

void add_check(Commands& commands) {
  commands.add("check",
               "Is this machine, this configuration, this token fit? Each finding with its remedy",
               run_check);
}

}  // namespace torchwatch::cli

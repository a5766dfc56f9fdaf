#include "torchwatch/runner/command_line.hpp"

#include <array>
#include <ostream>

#include "commands.hpp"

namespace torchwatch::runner {
namespace {

constexpr const char* kUsage = R"(usage: torchwatch-runner COMMAND

  measure REQUEST.json RESULT.json   measure one workload once and write the result; a workload that
                                     fails is a result too, with exit status 0
  list [WORKLOAD...] [--json]        list the workloads compiled in, with figures counted from the
                                     built networks (needs memory for the largest of them);
                                     --registered: only the facts known without building them
  values WORKLOAD --mode infer|grad [--batch N] [--preset paper|small] [--json]
                                     print what the network computes when filled by the formula
  environment [--json]               print the facts of the environment
  export REQUEST.json FOLDER         write the graph of the workload's forward, for a compiler:
                                     graph.pt and inputs.pt, and whether they came in export.json

A request needs schema (1), attempt, workload, device (cpu, cuda) and mode (train, infer).
exit status: 0 done, 2 wrong use or invalid request, 3 environment error (such as a result that
could not be written)
)";

struct Command {
  const char* name;
  ExitStatus (*run)(const Call& call);
};

constexpr std::array kCommands{Command{"measure", measure_command}, Command{"list", list_command},
                               Command{"values", values_command},
                               Command{"environment", environment_command},
                               Command{"export", export_command}};

}  // namespace

ExitStatus wrong_use(const Call& call, const std::string& what) {
  call.err << "torchwatch-runner: " << what << "\n\n" << kUsage;
  return ExitStatus::wrong_use;
}

ExitStatus failed(const Call& call, const Error& error) {
  call.err << "torchwatch-runner: " << error.text() << "\n";
  return error.code == ErrorCode::unavailable ? ExitStatus::environment_error
                                              : ExitStatus::wrong_use;
}

ExitStatus run_command_line(const std::vector<std::string>& arguments, std::ostream& out,
                            std::ostream& err) {
  Call call{arguments, out, err};
  if (arguments.empty()) return wrong_use(call, "no command");
  const auto& name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    out << kUsage;
    return ExitStatus::done;
  }
  call.arguments.erase(call.arguments.begin());
  for (const auto& command : kCommands) {
    if (name == command.name) return command.run(call);
  }
  return wrong_use(call, "unknown command \"" + name + "\"");
}

}  // namespace torchwatch::runner

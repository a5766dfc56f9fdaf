#include "torchwatch/cluster/look.hpp"

#include "slurm_client.hpp"

namespace torchwatch::cluster {

Result<std::vector<NamedJob>> jobs_of_service(process::ProcessRunner& processes,
                                              const std::string& prefix) {
  return SlurmClient(processes).jobs_beginning_with(prefix);
}

Result<orders::NodeLook> look_at_node(process::ProcessRunner& processes,
                                      const platform::Clock& clock, JobRunner::Settings settings,
                                      const std::filesystem::path& scratch,
                                      const std::vector<std::filesystem::path>& paths) {
  constexpr std::chrono::seconds kLimit{20};
  constexpr std::size_t kOutputBytesMax = 64U << 10U;
  process::ProcessSpec spec{};
  spec.program = settings.program;
  spec.arguments = {"look", scratch.string()};
  for (const auto& path : paths) spec.arguments.push_back(path.string());
  spec.working_folder = "/";
  spec.time_limit = kLimit;
  spec.output_limit_bytes = kOutputBytesMax;
  spec.label = "check";
  const auto outcome = JobRunner(processes, clock, std::move(settings)).run(spec);
  if (!process::succeeded(outcome)) {
    return fail(ErrorCode::unavailable, process::describe(outcome.end));
  }
  auto look = orders::parse_look(outcome.output);
  if (look) return look;
  return fail(ErrorCode::corrupt, "the node answered \"" + last_message(outcome.output) + "\"");
}

}  // namespace torchwatch::cluster

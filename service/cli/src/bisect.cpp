#include <nlohmann/json.hpp>
#include <ostream>

#include "commands.hpp"
#include "search_output.hpp"
#include "session_command.hpp"
#include "torchwatch/daemon/on_demand.hpp"

namespace torchwatch::cli {
namespace {

struct Options {
  daemon::SearchRequest request;
  std::string device;
  std::string mode;
  std::string metric;
};

Result<daemon::SearchRequest> request_of(const Options& options) {
  auto request = options.request;
  if (!options.device.empty()) {
    TW_TRY(request.device, parse_device(options.device));
  }
  if (!options.mode.empty()) {
    TW_TRY(request.mode, parse_mode(options.mode));
  }
  if (!options.metric.empty()) {
    TW_TRY(request.metric, parse_metric(options.metric));
  }
  return request;
}

Outcome run_bisect(const Invocation& invocation, const Options& options) {
  TW_TRY(const auto request, request_of(options));
  TW_TRY(auto opened, open_session(invocation));
  TW_TRY(const auto row, daemon::search_on_demand(*opened.session, request, invocation.stop));
  TW_TRY(const auto result, nightly::parse_search_result(row.answer_json));
  if (invocation.json) {
    invocation.out << nlohmann::json::parse(row.answer_json).dump(2) << '\n';
  } else {
    print(invocation.out, result, opened.workshop().history);
  }
  return exit_status_of(result);
}

}  // namespace

void add_bisect(Commands& commands) {
  auto options = std::make_shared<Options>();
  auto& command = commands.add(
      "bisect", "Search the commits between GOOD and BAD for the one that made it worse",
      [options](const Invocation& invocation) { return run_bisect(invocation, *options); });
  command.add_option("GOOD", options->request.good,
                     "The last commit known good: a revision of [source] or a nightly's name");
  command.add_option("BAD", options->request.bad, "The first known bad");
  command.add_option("--suspect", options->request.suspect,
                     "Test this commit against its parent first; the range only if that does not "
                     "reproduce");
  command.add_option("--workload", options->request.workloads,
                     "The workload that got worse; may be given again. Without it the suite is "
                     "screened between the ends");
  command.add_option("--device", options->device, "cpu (default) or cuda");
  command.add_option("--mode", options->mode, "train or infer; default: both");
  command.add_option("--metric", options->metric,
                     "time (default), cpu_peak, leak_growth, heap_growth, ...");
}

}  // namespace torchwatch::cli

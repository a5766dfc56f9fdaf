#include <algorithm>
#include <iterator>
#include <map>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/profiles/pages.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/traces/traces.hpp"

namespace torchwatch::pages {
namespace {

using storage::ProfileRun;

constexpr std::string_view kFile = "/trace.json.gz";

struct Kept {
  ProfileRun run;
  std::filesystem::path file;
  std::int64_t bytes = 0;
};

std::optional<Kept> kept(const ProfileRun& run, const Sources& sources) {
  if (sources.traces.empty()) return std::nullopt;
  const auto file = traces::file_of(sources.traces, run.token);
  const auto bytes = traces::size_of(file);
  return bytes ? std::optional(Kept{run, file, *bytes}) : std::nullopt;
}

/// Errors: not_found.
Result<Kept> kept_of(const http::Request& request, const Sources& sources) {
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto run, storage::EvidenceReader(sources.database).profile_run(id));
  if (auto found = kept(run, sources)) return *std::move(found);
  return fail(ErrorCode::not_found, "run " + std::to_string(id) +
                                        " has no trace: none was made, or it was removed as "
                                        "[retention] says");
}

/// What is recorded of a device, and how that is to be read.
std::string reading_text(Device device) {
  const std::string what = device == Device::cuda
                               ? "One iteration as the GPU did it: kernels and copies by stream."
                               : "One iteration on the CPU: every operator, by thread, with those "
                                 "that it calls below it.";
  return what +
         " Recording slows an iteration down, so compare shapes and shares with another trace, not "
         "times with a comparison.";
}

html::Fragment ways_to_open(storage::Id run, const View& view) {
  const auto file = view.to_trace(run) + std::string(kFile);
  auto line = html::link(file, "Download trace.json.gz");
  // Opened by a reader's click alone; nothing of it is loaded into a page.
  if (const auto& perfetto = view.sources.perfetto; !perfetto.empty()) {
    line += html::text(" · ") + html::link(perfetto, "Open in Perfetto", "external") +
            html::text(
                ": your browser hands the trace over, nothing is uploaded. Without a script, "
                "drop the file there.");
  }
  return html::paragraph(line, "summary");
}

}  // namespace

Result<html::Fragment> trace_table(const std::vector<ProfileRun>& runs, const View& view) {
  html::Rows rows;
  std::map<storage::Id, std::string> names;
  for (const auto& run : runs) {
    const auto found = kept(run, view.sources);
    if (!found) continue;
    auto& build = names[run.build];
    if (build.empty()) {
      TW_TRY(build, name_of_build(run.build, view));
    }
    const auto trace = view.to_trace(run.run);
    rows.push_back({{to_string(run.benchmark), trace},
                    {build, view.to_build(run.build)},
                    {platform::date_and_minute(run.at)},
                    {figures::bytes(found->bytes), static_cast<double>(found->bytes)},
                    {"download", trace + std::string(kFile)}});
  }
  using html::Cells;
  if (rows.empty()) return html::Fragment();
  return html::table({.columns = {{"trace", Cells::words},
                                  {"build"},
                                  {"recorded, UTC", Cells::words},
                                  {"size", Cells::numbers},
                                  {"file", Cells::words}},
                      .rows = std::move(rows)});
}

Result<html::Fragment> traces_section(const Benchmark& benchmark,
                                      const std::vector<storage::Id>& builds, const View& view) {
  constexpr int kRead = 20;
  if (view.sources.traces.empty()) return html::Fragment();
  storage::EvidenceReader reader(view.sources.database);
  std::vector<ProfileRun> runs;
  if (builds.empty()) {
    TW_TRY(runs, reader.profile_runs_of(benchmark, kRead));
  }
  for (const auto id : builds) {
    TW_TRY(const auto of_build, reader.profile_runs_of(id));
    std::ranges::copy_if(of_build, std::back_inserter(runs),
                         [&](const ProfileRun& run) { return run.benchmark == benchmark; });
  }
  TW_TRY(auto content, trace_table(runs, view));
  std::string commands;
  for (const auto id : builds) {
    if (std::ranges::find(runs, id, &ProfileRun::build) != runs.end()) continue;
    TW_TRY(const auto build, storage::BuildStore(view.sources.database).get(id));
    commands += report::profile_command(build.name, benchmark, std::nullopt) + "\n";
  }
  if (builds.empty() && content.empty()) {
    commands = report::profile_command("BUILD", benchmark, std::nullopt) + "\n";
  }
  // Builds are named by folders at times, which are not for strangers.
  const bool shows_commands = !commands.empty() && (view.is_trusted || builds.empty());
  if (shows_commands) {
    content += html::paragraph(html::text("A trace shows each operator of an iteration. This makes "
                                          "one, which then stands here:")) +
               html::code_block(commands);
  }
  return content.empty() ? content : html::section("Traces", content, "traces");
}

Result<http::Reply> get_trace(const http::Request& request, const Sources& sources) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto found, kept_of(request, sources));
  TW_TRY(auto bytes, traces::read(found.file));
  http::Reply reply{200, "application/gzip", std::move(bytes), {}};
  reply.headers = {{"Content-Disposition",
                    "attachment; filename=\"trace-" + std::to_string(found.run.run) + ".json.gz\""},
                   {"Cache-Control", "private, max-age=31536000, immutable"},
                   {"Content-Security-Policy", "default-src 'none'; sandbox"}};
  return reply;
}

Result<Page> make_trace(const View& view) {
  TW_TRY_VOID(http::refuse_parameters(view.request));
  TW_TRY(const auto found, kept_of(view.request, view.sources));
  const auto& run = found.run;
  TW_TRY(const auto build, name_of_build(run.build, view));
  const auto name = "Trace of " + to_string(run.benchmark);
  const auto facts = html::facts(
      {{"build", {build, view.to_build(run.build)}},
       {"series", {to_string(run.benchmark), view.to_series({run.benchmark, Metric::time})}},
       {"recorded", platform::date_and_minute(run.at) + " UTC, " + age_text(run.at, view)},
       {"size", figures::bytes(found.bytes) + ", compressed"},
       {"run", {std::to_string(run.run), view.root + "api/v1/runs/" + std::to_string(run.run)}}});
  const auto& workload = run.benchmark.workload;
  html::Table table{.columns = {{"run"}, {"build"}, {"series"}, {"recorded"}, {"bytes"}},
                    .rows = {{std::to_string(run.run), build, to_string(run.benchmark),
                              platform::iso_utc(run.at), std::to_string(found.bytes)}}};
  return Page{
      .title = name,
      .content = html::title(name) + ways_to_open(run.run, view) + facts +
                 html::paragraph(html::text(reading_text(run.benchmark.configuration.device))),
      .section = "Models",
      .way = {{view.root + "models", "Models"}, {view.to_model(workload), workload}},
      .csv = std::move(table)};
}

}  // namespace torchwatch::pages

#include <fstream>
#include <ostream>

#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/caches/caches.hpp"
#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/command.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/control/control_client.hpp"
#include "torchwatch/database/backup.hpp"
#include "torchwatch/exports/exports.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::commands {
namespace {

namespace fs = std::filesystem;

Outcome run_backup(const Invocation& invocation, const fs::path& file) {
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY_VOID(storage::back_up(*database, file));
  if (invocation.json) {
    print_json(invocation, nlohmann::json{{"schema", 1}, {"backup", file.string()}});
  } else {
    std::error_code ignored;
    const auto size = static_cast<std::int64_t>(fs::file_size(file, ignored));
    invocation.out << "backed up into " << file.string() << " (" << figures::bytes(size)
                   << "), every row and digest checked\n";
  }
  return ExitStatus::done;
}

Outcome run_restore(const Invocation& invocation, const fs::path& file) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto kept, storage::restore(file, config.storage.path));
  if (invocation.json) {
    const nlohmann::json replaced = kept.empty() ? nlohmann::json() : nlohmann::json(kept.string());
    print_json(invocation, nlohmann::json{{"schema", 1}, {"replaced", replaced}});
    return ExitStatus::done;
  }
  invocation.out << "restored " << config.storage.path.string() << " from " << file.string()
                 << '\n';
  if (!kept.empty()) invocation.out << "the replaced database is " << kept.string() << '\n';
  return ExitStatus::done;
}

Outcome run_check(const Invocation& invocation) {
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto breaches, database->check_invariants(invocation.stop));
  Items items{terminal::Table({{.heading = "broken rule", .fit = terminal::Table::Fit::wrap},
                               {.heading = "rows", .fit = terminal::Table::Fit::wrap}})};
  for (const auto& breach : breaches) {
    items.table.add({breach.invariant, breach.rows});
    items.json.push_back({{"invariant", breach.invariant}, {"rows", breach.rows}});
  }
  print(invocation, items, "Every stored row keeps the rules, and every digest matches.");
  return breaches.empty() ? ExitStatus::done : ExitStatus::environment;
}

/// Nothing may be removed while the daemon measures, which may take hours: it is not waited for.
Outcome hand_over_gc(const Invocation& invocation, const control::ControlClient& daemon) {
  TW_TRY_VOID(daemon.post("/api/v1/database/gc", nlohmann::json::object()));
  if (invocation.json) {
    print_json(invocation, nlohmann::json{{"schema", 1}, {"state", "pending"}});
  } else {
    invocation.out << "The daemon, process " << daemon.process()
                   << ", does it before its next item of work, and its log says what went.\n";
  }
  return ExitStatus::done;
}

Outcome run_gc(const Invocation& invocation) {
  TW_TRY(auto config, invocation.load_config());
  TW_TRY(const auto daemon, control::ControlClient::find(config));
  if (daemon) return hand_over_gc(invocation, *daemon);
  TW_TRY_VOID(daemon::require_database(config));
  TW_TRY(auto opened, open_application(invocation, std::move(config)));
  TW_TRY_VOID(opened.application->lock_machine());
  TW_TRY(const auto tidied, caches::tidy(daemon::cache_parts(*opened.application),
                                         opened.application->config().build.cache_limit_bytes));
  const auto size = [](const caches::Sizes& sizes) {
    return nlohmann::json{{"commits", sizes.commits},
                          {"releases", sizes.releases},
                          {"kits", sizes.kits},
                          {"packages", sizes.packages}};
  };
  if (invocation.json) {
    print_json(invocation, nlohmann::json{{"schema", 1},
                                          {"bytes_before", size(tidied.before)},
                                          {"bytes_after", size(tidied.after)},
                                          {"copies_removed", tidied.copies.size()}});
    return ExitStatus::done;
  }
  invocation.out << "cache: " << figures::bytes(tidied.after.sum()) << ", before "
                 << figures::bytes(tidied.before.sum()) << " (builds of commits "
                 << figures::bytes(tidied.after.commits) << ", releases "
                 << figures::bytes(tidied.after.releases) << ", kits "
                 << figures::bytes(tidied.after.kits) << ", packages "
                 << figures::bytes(tidied.after.packages) << ")\n"
                 << "old copies of the database removed: " << tidied.copies.size() << '\n';
  return ExitStatus::done;
}

struct ExportOptions {
  std::string what;
  std::string format = "csv";
  std::string file;
  storage::Id incident = 0;  ///< 0: not given

  exports::ExportFormat row_format() const {
    return format == "csv" ? exports::ExportFormat::csv : exports::ExportFormat::json_lines;
  }
};

Outcome run_export_evidence(const Invocation& invocation, const ExportOptions& options) {
  if (options.incident == 0 || options.file.empty()) {
    return fail(ErrorCode::invalid, "an export of evidence needs --incident ID and --out FOLDER");
  }
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, daemon::open_reader(config));
  const auto steps_of = [&](const auto& row) { return bisection::trace_of(*database, row); };
  TW_TRY(const auto files,
         exports::export_evidence(pictures::context_of(*database, config, true), options.incident,
                                  steps_of, options.file, options.row_format()));
  for (const auto& file : files) invocation.out << file.string() << '\n';
  return ExitStatus::done;
}

Status export_into(storage::Database& database, const ExportOptions& options, std::ostream& out) {
  return options.what == "verdicts" ? exports::export_verdicts(database, options.row_format(), out)
                                    : exports::export_samples(database, options.row_format(), out);
}

Outcome run_export(const Invocation& invocation, const ExportOptions& options) {
  if (invocation.json) {
    return fail(ErrorCode::invalid,
                "database export does not print one JSON document: it has --format json-lines");
  }
  if (options.what == "evidence") return run_export_evidence(invocation, options);
  if (options.incident != 0) {
    return fail(ErrorCode::invalid, "--incident goes with `database export evidence` alone");
  }
  TW_TRY(const auto database, open_reader(invocation));
  if (options.file.empty()) {
    TW_TRY_VOID(export_into(*database, options, invocation.out));
    return ExitStatus::done;
  }
  std::ofstream file(options.file, std::ios::binary);
  TW_TRY_VOID(export_into(*database, options, file));
  file.close();
  if (file.good()) return ExitStatus::done;
  return fail(ErrorCode::unavailable, "cannot write " + options.file + ": is the disk full?");
}

void add_export(Noun& database) {
  auto options = std::make_shared<ExportOptions>();
  auto& command = database.add(
      "export", "Print what was measured, for other programs",
      [options](const Invocation& invocation) { return run_export(invocation, *options); });
  command
      .add_option("WHAT", options->what,
                  "verdicts; samples: every run with its samples, in ns; evidence: what an "
                  "incident rests on, drawn and as tables")
      ->required()
      ->check(one_of({"verdicts", "samples", "evidence"}));
  command.add_option("--format", options->format, "csv or json-lines; default: csv")
      ->check(one_of({"csv", "json-lines"}))
      ->type_name("FORMAT");
  const auto* where = "Write into this file; default: standard output. Of evidence: a new folder";
  command.add_option("--out", options->file, where)->type_name("FILE");
  command.add_option("--incident", options->incident, "Of evidence: the id of the incident")
      ->check(whole_number(1));
  command.group(kRefusesJson);
  command.footer("torchwatch database export verdicts --format json-lines --out verdicts.jsonl");
}

/// A verb on the file that FILE names.
void add_with_file(Noun& database, const std::string& verb, const std::string& what,
                   const std::string& of_file,
                   std::function<Outcome(const Invocation&, const fs::path&)> action) {
  auto file = std::make_shared<std::string>();
  auto& command = database.add(verb, what, [file, action](const Invocation& invocation) {
    return action(invocation, *file);
  });
  command.add_option("FILE", *file, of_file)->required();
  command.footer("torchwatch database " + verb + " torchwatch.backup");
}

}  // namespace

void add_database(Commands& all) {
  Noun noun(all, "database", "The database and the caches: backup, restore, check, gc, export",
            "check");
  add_with_file(noun, "backup",
                "Copy the database into a new file, also while the daemon runs, and check the copy",
                "The new file; one that exists is left as it is", run_backup);
  add_with_file(noun, "restore",
                "Put a backup in its place, while no daemon runs; what it replaces is kept",
                "The backup; it is checked before anything is replaced", run_restore);
  noun.add("check", "Check every stored row, reference and digest", run_check);
  noun.add("gc",
           "Bring the caches to [build] cache_limit and remove old copies of the database, as the "
           "daemon does once a day",
           run_gc);
  add_export(noun);
}

}  // namespace torchwatch::commands

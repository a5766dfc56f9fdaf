#include <algorithm>

#include "drawn.hpp"
#include "torchwatch/evidence/side_by_side.hpp"
#include "torchwatch/records/shell_words.hpp"
#include "torchwatch/report/machine.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::evidence {
namespace {

using nlohmann::json;
using storage::BuildOnClasses;
using storage::MachineClass;

constexpr double kConfidence = 0.95;

/// Fills in what is not named, as the newest build has it that fits. What nothing fits is left as
/// it is, but for the classes.
AskedOnTwo with_defaults(AskedOnTwo asked, const std::vector<BuildOnClasses>& builds,
                         const std::vector<MachineClass>& known) {
  std::vector<storage::Id> classes;
  for (const auto& each : known) classes.push_back(each.id);
  const auto fits = [&asked](const BuildOnClasses& each) {
    const auto has = [&each](storage::Id of) {
      return of == 0 || std::ranges::find(each.classes, of) != each.classes.end();
    };
    return (asked.build == 0 || asked.build == each.build) && has(asked.a) && has(asked.b);
  };
  const auto found = std::ranges::find_if(builds, fits);
  if (found != builds.end()) {
    asked.build = found->build;
    classes = found->classes;
  }
  for (const auto each : classes) {
    if (asked.a == 0 && each != asked.b) asked.a = each;
    if (asked.b == 0 && each != asked.a) asked.b = each;
  }
  return asked;
}

/// The class of that id; none for 0. Errors: not_found.
Result<MachineClass> class_of(storage::Id id, const std::vector<MachineClass>& known) {
  const auto found = std::ranges::find(known, id, &MachineClass::id);
  if (id == 0 || found != known.end()) return id == 0 ? MachineClass{} : *found;
  return fail(ErrorCode::not_found, "no machine class " + std::to_string(id),
              "/machines has the machines with their classes");
}

json json_of(const ClassRatio& ratio) {
  const bool is_known = figures::is_known(ratio.low, ratio.high);
  return {{"ratio", ratio.ratio},
          {"interval", is_known ? json::array({ratio.low, ratio.high}) : json(nullptr)}};
}

json json_of(const OnBoth& compared) {
  auto object = report::json_of(compared.benchmark);
  object.update({{"a_ns", compared.a},
                 {"b_ns", compared.b},
                 {"runs_a", compared.runs_a},
                 {"runs_b", compared.runs_b}});
  object.update(json_of(compared.ratio));
  return object;
}

json list_of(const std::vector<OnBoth>& all) {
  auto list = json::array();
  for (const auto& each : all) list.push_back(json_of(each));
  return list;
}

json list_of(const std::vector<Benchmark>& all) {
  auto list = json::array();
  for (const auto& each : all) list.push_back(report::json_of(each));
  return list;
}

json name_of_build(const storage::BuildRow& build, bool is_trusted) {
  const bool is_private = build.origin == storage::BuildOrigin::folder && !is_trusted;
  return is_private ? json(nullptr) : json(build.name);
}

/// The name of a build; its id where that is the name of a newer one, too, which commands take.
Result<std::string> argument_for(storage::Database& database, const storage::BuildRow& build) {
  TW_TRY(const auto all, storage::BuildStore(database).list());
  const bool is_hidden = std::ranges::any_of(
      all, [&build](const auto& each) { return each.name == build.name && each.id > build.id; });
  return is_hidden ? std::to_string(build.id) : build.name;
}

drawing::ForestRow forest_row(std::string label, const ClassRatio& ratio) {
  drawing::ForestRow row{.label = std::move(label), .ratio = ratio.ratio};
  if (figures::is_known(ratio.low, ratio.high)) row.interval = {ratio.low, ratio.high};
  return row;
}

}  // namespace

Result<BuildOnTwo> times_on(storage::Database& database, storage::BuildRow build, MachineClass a,
                            MachineClass b) {
  TW_TRY(const auto values, storage::values_by_class(database, build.id, Metric::time));
  TW_TRY(auto argument, argument_for(database, build));
  auto sides = side_by_side(values, a.id, b.id);
  return BuildOnTwo{std::move(build), std::move(a), std::move(b), std::move(sides),
                    std::move(argument)};
}

AskedOnTwo asked_on_two(const std::map<std::string, storage::Id>& ids) {
  const auto id_of = [&ids](const char* name) {
    const auto found = ids.find(name);
    return found == ids.end() ? storage::Id{0} : found->second;
  };
  return {.build = id_of("build"), .a = id_of("a"), .b = id_of("b")};
}

Result<std::optional<BuildOnTwo>> times_on(storage::Database& database, const AskedOnTwo& asked) {
  if (asked.a != 0 && asked.a == asked.b) {
    return fail(ErrorCode::not_found, "machine class " + std::to_string(asked.a) +
                                          " is not compared with itself: must be two classes");
  }
  TW_TRY(const auto known, storage::machine_classes(database));
  TW_TRY_VOID(class_of(asked.a, known));
  TW_TRY_VOID(class_of(asked.b, known));
  storage::BuildStore builds(database);
  if (asked.build != 0) TW_TRY_VOID(builds.get(asked.build));
  if (known.size() < 2) return std::nullopt;
  TW_TRY(const auto measured, storage::builds_on_classes(database));
  const auto chosen = with_defaults(asked, measured, known);
  if (chosen.build == 0) return std::nullopt;
  TW_TRY(auto build, builds.get(chosen.build));
  TW_TRY(auto a, class_of(chosen.a, known));
  TW_TRY(auto b, class_of(chosen.b, known));
  TW_TRY(auto compared, times_on(database, std::move(build), std::move(a), std::move(b)));
  return std::optional(std::move(compared));
}

json json_of(const std::optional<BuildOnTwo>& of, bool is_trusted) {
  json object{{"schema", 1}, {"build", nullptr}, {"a", nullptr}, {"b", nullptr}};
  const auto sides = of ? of->sides : SideBySide{};
  if (of) {
    object["build"] = {{"id", of->build.id}, {"name", name_of_build(of->build, is_trusted)}};
    object["a"] = report::json_of(std::optional(of->a));
    object["b"] = report::json_of(std::optional(of->b));
  }
  object["geometric_mean"] = sides.benchmarks.empty() ? json(nullptr) : json_of(sides.mean);
  object["benchmarks"] = list_of(sides.benchmarks);
  object["only_a"] = list_of(sides.only_a);
  object["only_b"] = list_of(sides.only_b);
  return object;
}

std::string text_of(const ClassRatio& ratio) {
  if (!figures::is_known(ratio.low, ratio.high))
    return figures::change(ratio.ratio) + ", too few runs";
  return figures::change(ratio.ratio) + " " + figures::interval(ratio.low, ratio.high);
}

std::vector<std::string> sentences_on(const SideBySide& sides) {
  std::vector<std::string> sentences;
  if (sides.benchmarks.empty()) {
    sentences.emplace_back("Nothing has been measured on both.");
  } else {
    sentences.push_back("The geometric mean of " +
                        figures::count(sides.benchmarks.size(), "benchmark") +
                        " that ran on both is " + text_of(sides.mean) + ", B against A.");
  }
  const auto add_alone = [&](const std::vector<Benchmark>& alone, const std::string& side) {
    if (alone.empty()) return;
    sentences.push_back(figures::count(alone.size(), "benchmark") + " ran on " + side + " alone.");
  };
  add_alone(sides.only_a, "A");
  add_alone(sides.only_b, "B");
  if (sides.benchmarks.empty()) return sentences;
  sentences.emplace_back(
      "Runs on two machines make no pairs: the intervals (95 %) are those of single runs, so they "
      "are wider than a comparison's, they know nothing of how machines of one class differ, and "
      "there is no verdict.");
  return sentences;
}

std::string command_of(const BuildOnTwo& of) {
  return "torchwatch compare " + shell_word(of.argument) + " --between " +
         shell_word("machine=" + of.a.name) + " --and " + shell_word("machine=" + of.b.name);
}

drawing::ForestPlot forest_of(const Context& context, const BuildOnTwo& of) {
  drawing::ForestPlot plot{.title = name_of(of.build, context) + ", B against A",
                           .metric = Metric::time,
                           .confidence = kConfidence,
                           .has_verdicts = false};
  for (const auto& each : of.sides.benchmarks) {
    plot.rows.push_back(forest_row(
        each.benchmark.workload + " " + report::configuration_text(each.benchmark), each.ratio));
    plot.rows.back().link = address_of(context.links.series, Series{each.benchmark, Metric::time});
  }
  if (!plot.rows.empty()) {
    plot.mean = forest_row("geometric mean of " + std::to_string(plot.rows.size()), of.sides.mean);
  }
  return plot;
}

}  // namespace torchwatch::evidence

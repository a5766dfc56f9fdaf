#include "scripted_behaviour.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace torchwatch::test {
namespace {

const std::vector<std::string> kFigures = {"time", "time-at-least", "peak",  "leak",
                                           "heap", "retain",        "result"};
const std::vector<std::string> kTold = {"unsupported", "failed",   "crowded", "unwatched",
                                        "no-outputs",  "operator", "uncalled"};
const std::vector<std::string> kMisdeeds = {"crash", "hang", "flood",  "lie",   "cut",
                                            "stale", "huge", "silent", "exit-1"};

bool is_one_of(const std::vector<std::string>& verbs, const std::string& verb) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

bool fits(const Behaviour::Line& line, const Benchmark& benchmark) {
  return (line.workload == "*" || line.workload == benchmark.workload) &&
         (line.configuration == "*" || line.configuration == to_string(benchmark.configuration));
}

bool is_number(const std::string& text) {
  std::istringstream in(text);
  double number = 0;
  return (in >> number) && (in >> std::ws).eof() && std::isfinite(number);
}

bool read_noise(std::istringstream& words, Behaviour& behaviour) {
  std::string kind = "attempt";
  if (!(words >> behaviour.noise)) return false;
  words >> kind;
  behaviour.noise_is_fixed = kind == "fixed";
  return behaviour.noise >= 0 && (kind == "attempt" || kind == "fixed");
}

bool read_fact(std::istringstream& words, Behaviour& behaviour) {
  std::string name;
  words >> name >> std::ws;
  return !name.empty() && std::getline(words, behaviour.facts[name]);
}

bool read_benchmark_line(const std::string& verb, std::istringstream& words, Behaviour& behaviour) {
  Behaviour::Line line{.verb = verb, .workload = "*", .configuration = "*", .value = ""};
  words >> line.workload >> line.configuration >> std::ws;
  std::getline(words, line.value);
  const bool is_figure = is_one_of(kFigures, verb);
  const bool is_right = is_figure                ? is_number(line.value)
                        : is_one_of(kTold, verb) ? !line.value.empty()
                                                 : is_one_of(kMisdeeds, verb);
  behaviour.lines.push_back(std::move(line));
  return is_right;
}

}  // namespace

double Behaviour::factor(const std::string& verb, const Benchmark& benchmark) const {
  double product = 1;
  double least = 0;
  for (const Line& line : lines) {
    if (!fits(line, benchmark)) continue;
    if (line.verb == verb) product *= std::stod(line.value);
    if (line.verb == verb + "-at-least") least = std::max(least, std::stod(line.value));
  }
  return std::max(product, least);
}

double Behaviour::operator_factor(const std::string& name, const Benchmark& benchmark) const {
  double product = 1;
  for (const Line& line : lines) {
    const bool is_of = line.verb == "operator" && line.value.starts_with(name + " ");
    if (is_of && fits(line, benchmark)) product *= std::stod(line.value.substr(name.size()));
  }
  return product;
}

std::int64_t Behaviour::sum(const std::string& verb, const Benchmark& benchmark) const {
  std::int64_t bytes = 0;
  for (const Line& line : lines) {
    if (line.verb == verb && fits(line, benchmark)) bytes += std::llround(std::stod(line.value));
  }
  return bytes;
}

const Behaviour::Line* Behaviour::find(const std::vector<std::string>& verbs,
                                       const Benchmark& benchmark) const {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (is_one_of(verbs, line->verb) && fits(*line, benchmark)) return &*line;
  }
  return nullptr;
}

Result<Behaviour> parse_behaviour(const std::string& text) {
  Behaviour behaviour;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string verb;
    if (!(words >> verb)) continue;
    const bool is_right = verb == "noise"  ? read_noise(words, behaviour)
                          : verb == "fact" ? read_fact(words, behaviour)
                                           : read_benchmark_line(verb, words, behaviour);
    if (!is_right) {
      return fail(ErrorCode::invalid,
                  "behaviour, line " + std::to_string(number) + ": '" + line + "'");
    }
  }
  return behaviour;
}

}  // namespace torchwatch::test

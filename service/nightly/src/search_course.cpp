#include "torchwatch/nightly/search_course.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "robust.hpp"
#include "torchwatch/nightly/search_order.hpp"

namespace torchwatch::nightly {
namespace {

using nlohmann::json;
using Class = std::size_t;

/// Reads the events of one search one after the other.
class CourseReader {
 public:
  CourseReader(const storage::BisectionRow& row, SearchOrder order)
      : good_(row.good), order_(std::move(order)) {}

  CourseStep step_of(const std::string& kind, const json& body) {
    CourseStep step{kind,
                    body.value("purpose", ""),
                    body.value("commit", ""),
                    {},
                    {},
                    body.value("reason", ""),
                    0,
                    {},
                    {}};
    if (kind == "built") commits_[body.at("candidate").get<Class>()] = step.commit;
    if (kind == "measured" || kind == "measured_alone") read(kind, body, step);
    if (kind == "same_library") {
      step.commit = name(body.at("later"));
      step.against = name(body.at("earlier"));
    }
    if (kind == "reverted") {
      step.commit = name(body.at("candidate"));
      if (body.at("gone").get<bool>()) step.reason = "takes the change away";
    }
    if (body.contains("posterior")) believe(body.at("posterior"), step);
    return step;
  }

 private:
  /// A class by its commit; none is the good end.
  std::string name(const json& place) const {
    if (place.is_null()) return good_;
    const auto found = commits_.find(place.get<Class>());
    return found == commits_.end() ? std::string{} : found->second;
  }

  void read(const std::string& kind, const json& body, CourseStep& step) {
    step.commit = name(body.at("candidate"));
    const bool alone = kind == "measured_alone";
    if (!alone) {
      step.against = name(body.at("reference"));
      if (body.at("reference").is_null()) learn_good_end(body);
    }
    for (const auto& [target, list] : body.at(alone ? "readings" : "effects").items()) {
      const auto values = list.get<std::vector<double>>();
      const auto index = std::stoul(target);
      const auto& good = good_readings_[index];
      if (values.empty() || (alone && good.empty())) continue;
      const double level = alone ? median(good) : 0;
      step.readings.push_back({order_.targets.at(index).target, median(values) - level,
                               static_cast<int>(values.size())});
    }
  }

  void learn_good_end(const json& body) {
    const auto references = body.value("references", json::object());
    for (const auto& [target, list] : references.items()) {
      auto& known = good_readings_[std::stoul(target)];
      for (const auto& value : list) known.push_back(value.get<double>());
    }
  }

  void believe(const json& posterior, CourseStep& step) const {
    std::string after = good_;
    double mass = 0;
    for (Class place = 0; place < posterior.size(); ++place) {
      mass += posterior[place].get<double>();
      const auto built = commits_.find(place);
      if (built == commits_.end()) continue;
      if (mass > step.probability) {
        step.probability = mass;
        step.after = after;
        step.up_to = built->second;
      }
      after = built->second;
      mass = 0;
    }
  }

  std::string good_;
  SearchOrder order_;
  std::map<Class, std::string> commits_;  ///< of the classes that have a build
  std::map<std::size_t, std::vector<double>> good_readings_;
};

}  // namespace

Result<std::vector<CourseStep>> course_of(const storage::BisectionRow& row,
                                          const std::vector<storage::BisectionEventRow>& events) {
  TW_TRY(auto order, parse_search_order(row.request_json));
  CourseReader course(row, std::move(order));
  std::vector<CourseStep> steps;
  try {
    for (const auto& event : events) {
      steps.push_back(course.step_of(event.kind, json::parse(event.body_json)));
    }
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt, "bisection " + std::to_string(row.id) + ", event " +
                                        std::to_string(steps.size()) + ": " + exception.what());
  }
  return steps;
}

}  // namespace torchwatch::nightly

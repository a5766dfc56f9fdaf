#include <array>
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "faulty_vfs.hpp"

namespace torchwatch::test {
namespace {

// Spellings in the order of the enumerators.
constexpr std::array<std::string_view, 7> kFaults{
    "none", "kill", "torn_write", "disk_full_once", "disk_full", "io_error", "power_cut"};
constexpr std::array<std::string_view, 3> kSurvivors{"none", "all", "some"};

template <std::size_t kSize>
std::size_t index_of(const std::array<std::string_view, kSize>& words, const std::string& word) {
  std::string allowed;
  for (std::size_t i = 0; i < kSize; ++i) {
    if (words.at(i) == word) return i;
    allowed += " " + std::string(words.at(i));
  }
  throw std::invalid_argument("fault plan: \"" + word + "\" must be one of" + allowed);
}

}  // namespace

std::string to_string(const FaultPlan& plan) {
  return std::string(kFaults.at(static_cast<std::size_t>(plan.fault))) + ":" +
         std::to_string(plan.at) + ":" +
         std::string(kSurvivors.at(static_cast<std::size_t>(plan.survivors))) + ":" +
         std::to_string(plan.seed);
}

FaultPlan parse_fault_plan(const std::string& text) {
  std::istringstream parts(text);
  std::string fault, at = "0", survivors = "none", seed = "0";
  std::getline(parts, fault, ':');
  std::getline(parts, at, ':');
  std::getline(parts, survivors, ':');
  std::getline(parts, seed, ':');
  if (survivors.empty()) survivors = "none";
  if (seed.empty()) seed = "0";
  return FaultPlan{static_cast<Fault>(index_of(kFaults, fault)), std::stoll(at),
                   static_cast<Survivors>(index_of(kSurvivors, survivors)), std::stoull(seed)};
}

FaultPlan fault_plan_from_environment() {
  const char* text = std::getenv("TORCHWATCH_FAULT");
  return text == nullptr ? FaultPlan{} : parse_fault_plan(text);
}

}  // namespace torchwatch::test

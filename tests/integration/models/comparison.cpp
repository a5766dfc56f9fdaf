#include "comparison.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>

#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::tests {
namespace {

using nlohmann::json;

json original_of(const std::string& name, const char* path) {
  std::ifstream file(path);
  const auto originals = json::parse(file).at("originals");
  for (const auto& original : originals) {
    if (original.at("name") == name) return original;
  }
  return nullptr;
}

}  // namespace

void Differences::expect(const std::string& what, const json& ours, const json& original) {
  if (original.is_null() || ours == original) return;
  std::printf("%s: %s, the original has %s\n", what.c_str(), ours.dump().c_str(),
              original.dump().c_str());
  ++count_;
}

void Differences::expect_near(const std::string& what, double ours, double original, double limit) {
  const double difference = std::abs(ours - original);
  if (difference <= limit) return;
  std::printf("%s: %.9g, the original has %.9g; they differ by %.2g, more than %.2g\n",
              what.c_str(), ours, original, difference, limit);
  ++count_;
}

int compare_with_original(int argc, char** argv, const char* file, Compare compare) {
  const std::string name = argc == 2 ? argv[1] : "";
  const auto* entry = models::find(name);
  const auto original = original_of(name, file);
  if (entry == nullptr || original.is_null()) {
    std::fprintf(stderr, "%s: no workload \"%s\" here, or no figures of it in %s\n", argv[0],
                 name.c_str(), file);
    return 2;
  }
  runner::set_threads(1);
  Differences differences;
  compare(entry->definition, original, differences);
  return differences.count() == 0 ? 0 : 1;
}

}  // namespace torchwatch::tests

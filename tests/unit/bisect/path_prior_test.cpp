#include "torchwatch/bisect/path_prior.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::bisect;

namespace {

using Counts = std::vector<std::pair<std::string, int>>;

const std::vector<Folders> kDay{{"aten/src"}, {"torch/nn"}, {"torch/nn"}, {"torch/nn"}};

PathPrior after(int searches) {
  PathPrior prior;
  for (int search = 0; search < searches; ++search) prior.learn(kDay, 0);
  return prior;
}

Folders folders_of(std::vector<std::string> paths) {
  Commit commit;
  commit.changed_paths = std::move(paths);
  return torchwatch::bisect::folders_of(commit,
                                        PathPatterns::create(default_cannot_change()).value());
}

}  // namespace

TEST_CASE("the folders of a commit are two levels deep, without what cannot change the library") {
  CHECK(folders_of({"aten/src/ATen/native/Add.cpp", "aten/src/README.md", "c10/macros.h",
                    "setup.py", "test/test_nn.py", "torch/nn/modules/linear.py"}) ==
        Folders{".", "aten/src", "c10", "torch/nn"});
  CHECK(folders_of({"docs/index.rst"}).empty());
}

TEST_CASE("where nothing is known all commits are alike") {
  CHECK(PathPrior().weights(kDay) == std::vector<double>{1, 1, 1, 1});
}

TEST_CASE("a folder whose culprits were more than expected weighs more, and ever more so") {
  const auto few = after(3).weights(kDay);
  const auto many = after(12).weights(kDay);
  CHECK(few[0] > 1);
  CHECK(many[0] > few[0]);
  CHECK(many[1] < few[1]);
  CHECK(few[1] < 1);
}

TEST_CASE("no commit weighs less than a tenth of what it would weigh were all alike") {
  const auto weights = after(10'000).weights(kDay);
  for (const double weight : weights) CHECK(weight >= PathPrior::kLeastWeight);
  CHECK(weights[1] == PathPrior::kLeastWeight);
}

TEST_CASE("a commit has the weight of its most suspicious folder, an unknown one says nothing") {
  const auto prior = after(12);
  const std::vector<Folders> today{
      {"aten/src", "torch/nn"}, {"aten/src"}, {"torch/nn"}, {"caffe2"}};
  const auto weights = prior.weights(today);
  CHECK(weights[0] == weights[1]);
  CHECK(weights[3] > weights[2]);
  CHECK(weights[3] < weights[1]);
}

TEST_CASE("the folders that most culprits changed are named") {
  PathPrior prior = after(2);
  prior.learn({{"c10/core", "aten/src"}, {"torch/nn"}}, 0);
  CHECK(prior.searches() == 3);
  CHECK(prior.most_changed(1) == Counts{{"aten/src", 3}});
  CHECK(prior.most_changed(9) == Counts{{"aten/src", 3}, {"c10/core", 1}});
}

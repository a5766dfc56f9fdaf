#include "torchwatch/records/suggestion.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using Names = std::vector<std::string>;

namespace {

const Names kKnown{"alexnet", "resnet18",     "resnet50", "resnet152",
                   "hf_Bert", "BERT_pytorch", "dlrm"};

}  // namespace

TEST_CASE("a name two slips away, in another case or in part is what was meant") {
  CHECK(nearest("resnet81", kKnown).front() == "resnet18");
  CHECK(nearest("Alexnet", kKnown) == Names{"alexnet"});
  CHECK(nearest("bert", kKnown) == Names{"hf_Bert", "BERT_pytorch"});
  CHECK(nearest("torchvision_resnet18", kKnown) == Names{"resnet18"});
}

TEST_CASE("what is like nothing, empty, short or endless suggests nothing") {
  CHECK(nearest("tacotron2", kKnown).empty());
  CHECK(nearest("", kKnown).empty());
  CHECK(nearest("re", kKnown).empty());
  CHECK(nearest(std::string(100'000, 'a'), kKnown).empty());
  CHECK(did_you_mean("tacotron2", kKnown).empty());
}

TEST_CASE("the question names three at most, the likeliest first") {
  CHECK(did_you_mean("resnet", kKnown) == "did you mean resnet18, resnet50 or resnet152? ");
  CHECK(did_you_mean("dlmr", kKnown) == "did you mean dlrm? ");
}

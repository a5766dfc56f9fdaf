#pragma once

#include "torchwatch/models/workload.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::runner {

// What a request says, in the words of the models.

models::Precision precision_of(Precision);
models::Backend backend_of(Backend);

}  // namespace torchwatch::runner

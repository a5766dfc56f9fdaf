#pragma once

#include <map>
#include <optional>
#include <string>

namespace torchwatch {

using Facts = std::map<std::string, std::string>;  ///< name to value

/// Returns those facts of an environment by which machines are of one class: processor, number of
/// its cores, GPU, memory. Kernel and drivers are left out, as an update makes no other class.
Facts class_facts(const Facts&);

/// Returns what a class is called: "Model X, 64 cores, H100, 512 GiB"; empty without facts.
std::string class_name(const Facts& class_facts);

/// Returns the first fact in which two classes differ, as "cpu_model: Model X -> Model Y". Facts
/// that only one states do not count: runs on a CPU do not state the GPU.
std::optional<std::string> class_difference(const Facts& wanted, const Facts& found);

}  // namespace torchwatch

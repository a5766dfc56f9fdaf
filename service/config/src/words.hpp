#pragma once

#include <toml++/toml.h>

#include <string>
#include <vector>

#include "torchwatch/config/config.hpp"

namespace torchwatch::config {

// As torchwatch/values/value_format.hpp, for the types that only the configuration has.

std::string type_of(ChannelKind);
std::string type_of(AnonymousRead);
std::string type_of(SandboxKind);
std::string type_of(FileWhen);
std::string type_of(ExecutorKind);
std::string type_of(const std::vector<SeriesThreshold>&);

Status read(const toml::node&, ChannelKind&);
Status read(const toml::node&, AnonymousRead&);
Status read(const toml::node&, SandboxKind&);
Status read(const toml::node&, FileWhen&);
Status read(const toml::node&, ExecutorKind&);
Status read(const toml::node&, std::vector<SeriesThreshold>&);
Status read(const toml::node&, Scopes&);

std::string write(ChannelKind);
std::string write(AnonymousRead);
std::string write(SandboxKind);
std::string write(FileWhen);
std::string write(ExecutorKind);
std::string write(const std::vector<SeriesThreshold>&);
std::string write(const Scopes&);

}  // namespace torchwatch::config

#include "kit_folder.hpp"

#include <algorithm>

#include "torchwatch/doors/publish.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeader = "libtorch_pch.hpp";
constexpr const char* kPrecompiled = "libtorch_pch.hpp.gch";
constexpr const char* kObjects = "objects";
constexpr const char* kNeeds = "needs";

struct Source {
  std::string path;  ///< relative to the sources' root
  bool uses_libtorch = false;
};

/// The .cpp files directly in a folder of the sources, by name.
Status add_sources(const fs::path& root, const std::string& folder, bool uses_libtorch,
                   std::vector<Source>& sources) {
  std::error_code error;
  const auto first = static_cast<std::ptrdiff_t>(sources.size());
  for (const auto& entry : fs::directory_iterator(root / folder, error)) {
    if (entry.path().extension() != ".cpp") continue;
    sources.push_back({folder + "/" + entry.path().filename().string(), uses_libtorch});
  }
  if (error) {
    return fail(ErrorCode::not_found, "cannot list the runner's sources in " +
                                          (root / folder).string() + ": " + error.message());
  }
  std::ranges::sort(sources.begin() + first, sources.end(), {}, &Source::path);
  return {};
}

Result<std::vector<Source>> sources_of(const KitPlan& plan) {
  std::vector<Source> sources;
  for (const auto& folder : plan.manifest.plain_sources) {
    TW_TRY_VOID(add_sources(plan.sources, folder, false, sources));
  }
  for (const auto& folder : plan.manifest.libtorch_sources) {
    TW_TRY_VOID(add_sources(plan.sources, folder, true, sources));
  }
  for (const auto& workload : plan.workloads) {
    const std::string path = plan.manifest.workload_folder + "/" + workload.file;
    if (std::ranges::find(sources, path, &Source::path) == sources.end()) {
      sources.push_back({path, true});
    }
  }
  return sources;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// objects/3_main.o: numbered, as two folders may hold files of one name.
std::string object_of(std::size_t number, const Source& source) {
  return std::string(kObjects) + "/" + std::to_string(number) + "_" +
         fs::path(source.path).stem().string() + ".o";
}

std::string link_flags(const KitPlan& plan) {
  std::string flags = "-L" + std::string(kTreeLink) + "/lib " + joined(plan.manifest.link);
  for (const auto& library : plan.link.libraries) flags += " -l" + library;
  flags += " -ldl -lpthread";
  // A RUNPATH: LD_LIBRARY_PATH comes before it and swaps the libraries under a kit. For the shell
  // in quotes, for ninja with a doubled $.
  flags += " '-Wl,-rpath,$$ORIGIN/" + std::string(kTreeLink) + "/lib'";
  flags += " -Wl,-rpath-link," + std::string(kTreeLink) + "/lib";
  for (std::size_t i = 0; i < plan.link.folders.size(); ++i) {
    flags += " -Wl,-rpath-link," + std::string(kNeeds) + "/" + std::to_string(i);
  }
  return flags;
}

std::string build_file(const KitPlan& plan, const std::vector<Source>& sources) {
  const std::string compiler = std::string(plan.has_ccache ? "ccache " : "") + "g++";
  const std::string header(kHeader);
  std::string text = "# Made by torchwatch. Works in this folder only.\n";
  text += "flags = " + joined(compile_flags(plan)) + "\n\n";
  text += "rule header\n  command = " + compiler + " $flags -x c++-header $in -o $out\n";
  text += "rule plain\n  command = " + compiler + " $flags -c $in -o $out\n";
  text += "rule libtorch\n  command = " + compiler + " $flags -fpch-preprocess -include " + header +
          " -c $in -o $out\n";
  text += "rule link\n  command = g++ $in " + link_flags(plan) + " -o $out\n\n";
  text += "build " + std::string(kPrecompiled) + ": header " + header + "\n";
  std::string objects;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string object = object_of(i, sources[i]);
    text += "build " + object + ": " + (sources[i].uses_libtorch ? "libtorch " : "plain ") +
            kOwnLink + "/" + sources[i].path +
            (sources[i].uses_libtorch ? " | " + std::string(kPrecompiled) : "") + "\n";
    objects += " " + object;
  }
  return text + "build " + plan.manifest.executable + ": link" + objects + "\n";
}

std::string header_text(const KitPlan& plan) {
  return "#include \"" + plan.manifest.precompiled_header + "\"\n";
}

/// Only ever preprocessed.
std::string closure_text(const KitPlan& plan, const std::vector<Source>& sources) {
  std::string text = header_text(plan);
  for (const auto& source : sources) {
    text += "#include \"" + std::string(kOwnLink) + "/" + source.path + "\"\n";
  }
  return text;
}

Status make_link(const fs::path& target, const fs::path& link) {
  std::error_code error;
  fs::create_directories(link.parent_path(), error);
  fs::create_directory_symlink(fs::absolute(target, error), link, error);
  if (!error) return {};
  return fail(ErrorCode::unavailable,
              "cannot make the link " + link.string() + ": " + error.message());
}

}  // namespace

std::vector<std::string> compile_flags(const KitPlan& plan) {
  std::vector<std::string> flags = plan.manifest.compile;
  flags.push_back("-D_GLIBCXX_USE_CXX11_ABI=" + std::to_string(plan.link.cxx11_abi));
  flags.emplace_back("-I.");
  for (const auto& folder : plan.manifest.include) {
    flags.push_back("-I" + std::string(kOwnLink) + "/" + folder);
  }
  for (const char* folder : {"/include", "/include/torch/csrc/api/include"}) {
    flags.emplace_back("-isystem");
    flags.push_back(std::string(kTreeLink) + folder);
  }
  return flags;
}

std::string table_of(const KitPlan& plan) {
  constexpr std::string_view kSign = "@NAME@";
  std::string table;
  for (const auto& workload : plan.workloads) {
    std::string line = plan.manifest.table_line;
    line.replace(line.find(kSign), kSign.size(), workload.name);
    table += line + "\n";
  }
  return table;
}

Status lay_out_kit_folder(const fs::path& folder, const KitPlan& plan) {
  TW_TRY(const auto sources, sources_of(plan));
  TW_TRY_VOID(make_link(plan.sources, folder / kOwnLink));
  TW_TRY_VOID(make_link(plan.tree, folder / kTreeLink));
  for (std::size_t i = 0; i < plan.link.folders.size(); ++i) {
    TW_TRY_VOID(make_link(plan.link.folders[i], folder / kNeeds / std::to_string(i)));
  }
  TW_TRY_VOID(doors::publish_file(folder / plan.manifest.table_file, table_of(plan)));
  TW_TRY_VOID(doors::publish_file(folder / kHeader, header_text(plan)));
  TW_TRY_VOID(doors::publish_file(folder / kClosureSource, closure_text(plan, sources)));
  return doors::publish_file(folder / "build.ninja", build_file(plan, sources));
}

Status clean_kit_folder(const fs::path& folder, const KitPlan& plan) {
  std::error_code error;
  for (const char* name : {kOwnLink, kNeeds, kObjects, kHeader, kPrecompiled, kClosureSource,
                           ".ninja_log", ".ninja_deps"}) {
    fs::remove_all(folder / name, error);
    if (error) break;
  }
  if (!error) fs::remove(folder / plan.manifest.table_file, error);
  if (!error) return {};
  return fail(ErrorCode::unavailable,
              "cannot clean up " + folder.string() + ": " + error.message());
}

}  // namespace torchwatch::builds

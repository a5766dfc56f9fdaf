# Headers of others that most files of the service and of the tests read, compiled in advance: that
# saves a fifth to a quarter of their compilation. Only where files are put together (Unity.cmake);
# otherwise each file sees what it includes itself and nothing else.
set(torchwatch_common_headers
  <algorithm> <chrono> <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional> <set>
  <span> <sstream> <string> <thread> <variant> <vector> <nlohmann/json.hpp> <tl/expected.hpp>)

# With this flag ccache also serves files that use GCC's precompiled header.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)

# Makes a target that compiles them, and the further headers of the call, for targets with the same
# options. It has one file, which is empty, as CMake wants one to compile them for.
function(torchwatch_compile_common_headers name)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(${name} PRIVATE
    nlohmann_json::nlohmann_json tl::expected torchwatch_settings torchwatch_warnings)
  target_precompile_headers(${name} PRIVATE ${torchwatch_common_headers} ${ARGN})
endfunction()

function(torchwatch_use_common_headers target owner)
  if(CMAKE_UNITY_BUILD)
    target_precompile_headers(${target} REUSE_FROM ${owner})
    # Only with them GCC 12 takes its own std::string for too small where two are joined; see
    # -Wrestrict in Settings.cmake.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endfunction()

torchwatch_compile_common_headers(torchwatch_common_headers)

# Several files compiled as one, where that is asked for (CMAKE_UNITY_BUILD=ON, as the presets user
# and ci do, and runner/kit): it takes half the time, as each of our files is much smaller than the
# headers it reads. unity_groups.py says which files can be put together. Without it every file is
# compiled alone, which is what shows that each includes what it uses.
#
# A file that comes to use a name which another file of its group keeps to itself is "redefined" or
# "ambiguous" until CMake runs again and parts them.
set(TORCHWATCH_FILES_AT_ONCE 10 CACHE STRING "How many files a unity build compiles as one at most")

# Every target of a folder and of those below it, as a list in `result`.
function(torchwatch_targets_of folder result)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  get_property(below DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS below)
    torchwatch_targets_of("${each}" further)
    list(APPEND targets ${further})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

# Groups the files of every target that is built so; those without a precompiled header among
# themselves, as they are the ones that do not see what is in it. To be called when all targets are known.
function(torchwatch_group_files)
  torchwatch_targets_of("${CMAKE_SOURCE_DIR}" targets)
  set(lines "")
  foreach(target IN LISTS targets)
    get_target_property(is_unity ${target} UNITY_BUILD)
    if(NOT is_unity)
      continue()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    # GCC takes a file that is put together with others for a header.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    get_target_property(folder ${target} SOURCE_DIR)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    set(plain "")
    set(precompiled "")
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}")
      get_source_file_property(is_alone "${source}" TARGET_DIRECTORY ${target} SKIP_UNITY_BUILD_INCLUSION)
      get_source_file_property(is_plain "${source}" TARGET_DIRECTORY ${target} SKIP_PRECOMPILE_HEADERS)
      if(is_alone)
        continue()
      elseif(is_plain)
        string(APPEND plain ";${source}")
      else()
        string(APPEND precompiled ";${source}")
      endif()
    endforeach()
    string(APPEND lines "${target}${precompiled}\n${target}+plain${plain}\n")
  endforeach()
  set(input "${CMAKE_BINARY_DIR}/unity_targets.txt")
  file(WRITE "${input}" "${lines}")
  execute_process(
    COMMAND "${TORCHWATCH_PYTHON}" -B "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/unity_groups.py"
      ${TORCHWATCH_FILES_AT_ONCE}
    INPUT_FILE "${input}" OUTPUT_VARIABLE groups ERROR_VARIABLE error RESULT_VARIABLE status)
  # A file without a group is compiled alone. A service whose Python fails still gets its kits.
  if(NOT status STREQUAL "0")
    message(WARNING "${TORCHWATCH_PYTHON} failed to say which files go together (${status}), so each is compiled alone. ${error}")
    return()
  endif()
  string(REGEX MATCHALL "[^\n]+" groups "${groups}")
  foreach(line IN LISTS groups)
    string(REGEX MATCH "^([^+|]+)([^|]*)\\|(.+)\\|(.+)$" unused "${line}")
    set_source_files_properties("${CMAKE_MATCH_3}" TARGET_DIRECTORY ${CMAKE_MATCH_1}
      PROPERTIES UNITY_GROUP "${CMAKE_MATCH_4}${CMAKE_MATCH_2}")
  endforeach()
endfunction()

# Not find_package(Python3): it takes four seconds, and a runner kit is configured often.
find_program(TORCHWATCH_PYTHON python3)
if(CMAKE_UNITY_BUILD AND NOT TORCHWATCH_PYTHON)
  message(STATUS "Each file is compiled alone: python3, which would say what goes together, is missing")
  set(CMAKE_UNITY_BUILD OFF)
elseif(CMAKE_UNITY_BUILD)
  cmake_language(DEFER CALL torchwatch_group_files)
endif()

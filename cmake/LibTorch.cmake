# torchwatch::libtorch: a target made from the LibTorch tree in TORCHWATCH_LIBTORCH. Not
# find_package(Torch): the package of a CUDA wheel fails on a machine without the CUDA toolkit.
#
# As a script it prints how programs are linked with the tree, in one line without any path, and
# makes no target:
#
#   cmake -DTORCHWATCH_LIBTORCH=TREE -P cmake/LibTorch.cmake
set(_libtorch_lib "${TORCHWATCH_LIBTORCH}/lib")
set(_libtorch_include "${TORCHWATCH_LIBTORCH}/include")

foreach(_file lib/libtorch_cpu.so lib/libc10.so include/torch/csrc/api/include/torch/torch.h)
  if(NOT EXISTS "${TORCHWATCH_LIBTORCH}/${_file}")
    message(FATAL_ERROR
      "TORCHWATCH_LIBTORCH is ${TORCHWATCH_LIBTORCH}, which has no ${_file}. It must be a LibTorch "
      "tree with lib/ and include/; set it to one, or to nothing to build without models and runner.")
  endif()
endforeach()

# The C++ ABI that the tree was built with is in the name of a function that every build exports.
# (Any other __cxx11 symbol proves nothing: builds of the old ABI export some.)
find_program(CMAKE_NM nm REQUIRED)
execute_process(COMMAND ${CMAKE_NM} -D --defined-only "${_libtorch_lib}/libc10.so"
  OUTPUT_VARIABLE _libtorch_symbols RESULT_VARIABLE _libtorch_nm_failed)
if(_libtorch_nm_failed OR NOT _libtorch_symbols MATCHES "torchCheckFail")
  message(FATAL_ERROR " cannot read the C++ ABI of ${_libtorch_lib}/libc10.so: "
    "it exports no c10::detail::torchCheckFail; is it LibTorch's?")
endif()
if(_libtorch_symbols MATCHES "torchCheckFail[^\n]*__cxx11")
  set(_libtorch_abi 1)
else()
  set(_libtorch_abi 0)
endif()

# Sets `missing` to the libraries that the loader does not find for a library of the tree. It is
# asked as it will be asked by a run, which has the tree's lib/ in LD_LIBRARY_PATH: a planted build's
# libtorch.so has no search path of its own.
function(torchwatch_missing_needs library)
  set(folders "${_libtorch_lib}")
  if(NOT "$ENV{LD_LIBRARY_PATH}" STREQUAL "")
    string(APPEND folders ":$ENV{LD_LIBRARY_PATH}")
  endif()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env "LD_LIBRARY_PATH=${folders}" ldd "${_libtorch_lib}/${library}"
    OUTPUT_VARIABLE needs ERROR_VARIABLE needs RESULT_VARIABLE ldd_failed)
  if(ldd_failed)
    message(FATAL_ERROR " ldd cannot read ${_libtorch_lib}/${library}: ${needs}")
  endif()
  string(REGEX MATCHALL "[^ \t\n]+ (=> )?not found" missing "${needs}")
  list(TRANSFORM missing REPLACE " .*" "")
  set(missing "${missing}" PARENT_SCOPE)
endfunction()

torchwatch_missing_needs(libtorch_cpu.so)
if(missing)
  list(JOIN missing ", " missing)
  message(FATAL_ERROR " ${_libtorch_lib}/libtorch_cpu.so needs ${missing}, which is not on this "
    "machine: put it beside it")
endif()

# libtorch.so pulls in what a build overrides or adds (a planted day's overlay, CUDA). It is linked
# where the loader finds everything it needs; a CUDA build on a machine without CUDA's libraries is
# linked by its CPU part alone.
set(_libtorch_linked torch_cpu c10)
if(EXISTS "${_libtorch_lib}/libtorch.so")
  torchwatch_missing_needs(libtorch.so)
  if(NOT missing)
    list(PREPEND _libtorch_linked torch)
  endif()
endif()

list(JOIN _libtorch_linked " " _libtorch_facts)
set(_libtorch_facts "C++11 ABI ${_libtorch_abi}, links ${_libtorch_facts}")
if(CMAKE_SCRIPT_MODE_FILE)
  message(NOTICE "${_libtorch_facts}")
  return()
endif()
message(STATUS "LibTorch: ${TORCHWATCH_LIBTORCH} (${_libtorch_facts})")

add_library(torchwatch_libtorch INTERFACE)
target_include_directories(torchwatch_libtorch SYSTEM INTERFACE
  "${_libtorch_include}" "${_libtorch_include}/torch/csrc/api/include")
# NDEBUG because LibTorch is built with it and some of its classes (at::RecordFunction) have members
# only without it: headers read otherwise do not fit the libraries.
target_compile_definitions(torchwatch_libtorch INTERFACE
  NDEBUG _GLIBCXX_USE_CXX11_ABI=${_libtorch_abi})
# What LibTorch itself wants of CUPTI and the CUDA runtime is the loader's to find.
target_link_options(torchwatch_libtorch INTERFACE
  "LINKER:--no-as-needed" "LINKER:--allow-shlib-undefined")
# By -l, not by path: the path of a library without a SONAME would be written into the program. The
# folder becomes the program's RUNPATH; LD_LIBRARY_PATH comes before that and swaps the libraries.
target_link_directories(torchwatch_libtorch INTERFACE "${_libtorch_lib}")
foreach(_library IN LISTS _libtorch_linked)
  target_link_libraries(torchwatch_libtorch INTERFACE -l${_library})
  set_property(TARGET torchwatch_libtorch APPEND PROPERTY
    INTERFACE_LINK_DEPENDS "${_libtorch_lib}/lib${_library}.so")
endforeach()
target_link_libraries(torchwatch_libtorch INTERFACE ${CMAKE_DL_LIBS} Threads::Threads)
add_library(torchwatch::libtorch ALIAS torchwatch_libtorch)

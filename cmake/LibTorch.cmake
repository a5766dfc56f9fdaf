# torchwatch::libtorch: an imported target made from the LibTorch tree in TORCHWATCH_LIBTORCH.
# Not find_package(Torch): the package of a CUDA wheel fails on a machine without the CUDA toolkit.
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
execute_process(COMMAND ${CMAKE_NM} -D --defined-only "${_libtorch_lib}/libc10.so"
  OUTPUT_VARIABLE _libtorch_symbols RESULT_VARIABLE _libtorch_nm_failed)
if(_libtorch_nm_failed OR NOT _libtorch_symbols MATCHES "torchCheckFail")
  message(FATAL_ERROR "cannot read the C++ ABI from ${_libtorch_lib}/libc10.so: "
    "it exports no c10::detail::torchCheckFail")
endif()
if(_libtorch_symbols MATCHES "torchCheckFail[^\n]*__cxx11")
  set(_libtorch_abi 1)
else()
  set(_libtorch_abi 0)
endif()

# libtorch.so pulls in what a build overrides or adds (a planted day's overlay, CUDA). It is linked
# where the loader finds everything it needs; a CUDA build on a machine without CUDA's libraries is
# linked by its CPU part alone.
set(_libtorch_linked torch_cpu c10)
if(EXISTS "${_libtorch_lib}/libtorch.so")
  execute_process(COMMAND ldd "${_libtorch_lib}/libtorch.so"
    OUTPUT_VARIABLE _libtorch_needs ERROR_QUIET RESULT_VARIABLE _libtorch_ldd_failed)
  if(NOT _libtorch_ldd_failed AND NOT _libtorch_needs MATCHES "not found")
    list(PREPEND _libtorch_linked torch)
  endif()
endif()
list(TRANSFORM _libtorch_linked PREPEND "${_libtorch_lib}/lib")
list(TRANSFORM _libtorch_linked APPEND ".so")

add_library(torchwatch_libtorch INTERFACE)
target_include_directories(torchwatch_libtorch SYSTEM INTERFACE
  "${_libtorch_include}" "${_libtorch_include}/torch/csrc/api/include")
# NDEBUG because LibTorch is built with it and some of its classes (at::RecordFunction) have members
# only without it: headers read otherwise do not fit the libraries.
target_compile_definitions(torchwatch_libtorch INTERFACE
  NDEBUG _GLIBCXX_USE_CXX11_ABI=${_libtorch_abi})
# What LibTorch itself wants of CUPTI and the CUDA runtime is the loader's to find.
target_link_options(torchwatch_libtorch INTERFACE
  "LINKER:--no-as-needed" "LINKER:--allow-shlib-undefined" "LINKER:-rpath,${_libtorch_lib}")
target_link_libraries(torchwatch_libtorch INTERFACE ${_libtorch_linked} ${CMAKE_DL_LIBS} Threads::Threads)
add_library(torchwatch::libtorch ALIAS torchwatch_libtorch)
message(STATUS "LibTorch: ${TORCHWATCH_LIBTORCH} (C++11 ABI ${_libtorch_abi}, links ${_libtorch_linked})")

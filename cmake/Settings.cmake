# Language settings and warnings as INTERFACE targets, linked by own code only: a third party's
# headers are never compiled under our warnings.
add_library(torchwatch_settings INTERFACE)
target_compile_features(torchwatch_settings INTERFACE cxx_std_20)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Asserts for programmer mistakes stay on in every build (style: input is never asserted). They name
# their file as seen from the checkout, so that no binary says where it was built.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH source_root)
target_compile_options(torchwatch_settings INTERFACE "-fmacro-prefix-map=${source_root}/=")
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

set(TORCHWATCH_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=: address,undefined or thread")
if(TORCHWATCH_SANITIZE)
  target_compile_options(torchwatch_settings INTERFACE
    -fsanitize=${TORCHWATCH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    -Wno-maybe-uninitialized)  # as GCC documents, instrumented code looks uninitialised to it
  target_link_options(torchwatch_settings INTERFACE -fsanitize=${TORCHWATCH_SANITIZE})
endif()

option(TORCHWATCH_WERROR "Warnings are errors (on in the presets, off for users)" OFF)
add_library(torchwatch_warnings INTERFACE)
target_compile_options(torchwatch_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual
  -Wimplicit-fallthrough
  # GCC 12 sees overlapping copies inside its own std::string (bug 105651); gone in GCC 13.
  -Wno-restrict
  # At -O3, which only users' builds have, it also takes fmt's buffers for too small and members of
  # structs that were never made for uninitialised.
  $<$<NOT:$<BOOL:${TORCHWATCH_WERROR}>>:-Wno-stringop-overflow;-Wno-maybe-uninitialized>
  $<$<BOOL:${TORCHWATCH_WERROR}>:-Werror>)

# The tests are more than a hundred programs, each of which mold links in a fifth of the time.
find_program(TORCHWATCH_MOLD mold)
if(TORCHWATCH_TESTS AND TORCHWATCH_MOLD)
  target_link_options(torchwatch_settings INTERFACE -fuse-ld=mold)
endif()

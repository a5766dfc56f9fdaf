# One library a component, with an include root of its own: a component sees the headers of the components it
# names under USES or SEES and of no other, so a forbidden include does not compile.
#
#   torchwatch_component(bisect SOURCES a.cpp b.cpp USES records PRIVATE PkgConfig::git2)
#
# USES     components that appear in this component's headers (passed on to its users)
# SEES     components that only its sources use
# PUBLIC   libraries of others that appear in its headers
# PRIVATE  libraries of others that only its sources use
function(torchwatch_component name)
  cmake_parse_arguments(COMPONENT "" "" "SOURCES;USES;SEES;PUBLIC;PRIVATE" ${ARGN})
  list(TRANSFORM COMPONENT_USES PREPEND torchwatch::)
  list(TRANSFORM COMPONENT_SEES PREPEND torchwatch::)
  if(COMPONENT_SOURCES)
    add_library(torchwatch_${name} STATIC ${COMPONENT_SOURCES})
    target_include_directories(torchwatch_${name} PUBLIC include PRIVATE src)
    target_link_libraries(torchwatch_${name}
      PUBLIC ${COMPONENT_USES} ${COMPONENT_PUBLIC}
      PRIVATE ${COMPONENT_SEES} ${COMPONENT_PRIVATE} torchwatch_settings torchwatch_warnings)
    target_compile_features(torchwatch_${name} PUBLIC cxx_std_20)
    if(TORCHWATCH_COMMON_HEADERS_OF)
      torchwatch_use_common_headers(torchwatch_${name} ${TORCHWATCH_COMMON_HEADERS_OF})
    endif()
  else()
    add_library(torchwatch_${name} INTERFACE)
    target_include_directories(torchwatch_${name} INTERFACE include)
    target_link_libraries(torchwatch_${name} INTERFACE ${COMPONENT_USES} ${COMPONENT_PUBLIC})
    target_compile_features(torchwatch_${name} INTERFACE cxx_std_20)
  endif()
  add_library(torchwatch::${name} ALIAS torchwatch_${name})
endfunction()

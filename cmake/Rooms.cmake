# One library a room, with an include root of its own: a room sees the headers of the rooms it
# names under USES or SEES and of no other, so a forbidden include does not compile.
#
#   torchwatch_room(bisect SOURCES a.cpp b.cpp USES records PRIVATE PkgConfig::git2)
#
# USES     rooms that appear in this room's headers (passed on to its users)
# SEES     rooms that only its sources use
# PUBLIC   libraries of others that appear in its headers
# PRIVATE  libraries of others that only its sources use
function(torchwatch_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;SEES;PUBLIC;PRIVATE" ${ARGN})
  list(TRANSFORM ROOM_USES PREPEND torchwatch::)
  list(TRANSFORM ROOM_SEES PREPEND torchwatch::)
  if(ROOM_SOURCES)
    add_library(torchwatch_${name} STATIC ${ROOM_SOURCES})
    target_include_directories(torchwatch_${name} PUBLIC include PRIVATE src)
    target_link_libraries(torchwatch_${name}
      PUBLIC ${ROOM_USES} ${ROOM_PUBLIC}
      PRIVATE ${ROOM_SEES} ${ROOM_PRIVATE} torchwatch_settings torchwatch_warnings)
    target_compile_features(torchwatch_${name} PUBLIC cxx_std_20)
  else()
    add_library(torchwatch_${name} INTERFACE)
    target_include_directories(torchwatch_${name} INTERFACE include)
    target_link_libraries(torchwatch_${name} INTERFACE ${ROOM_USES} ${ROOM_PUBLIC})
    target_compile_features(torchwatch_${name} INTERFACE cxx_std_20)
  endif()
  add_library(torchwatch::${name} ALIAS torchwatch_${name})
endfunction()

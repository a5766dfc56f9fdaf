# What `cmake --install BUILD [--prefix PREFIX]` puts where; DESTDIR is respected.
#
#   bin/torchwatch                 the program
#   bin/torchwatch-carry           what runs on the nodes of a cluster
#   share/torchwatch/              what kits are compiled from and releases fetched with, laid out as
#                                  in a checkout; the program finds it beside itself
#   share/torchwatch/deploy/       recipes, examples of external workloads, the list of Debian packages
#   share/torchwatch/studies/      pairs of settings to compare
#   share/doc/torchwatch/          README, documents, the configuration with every key
#   share/man/man1/torchwatch.1    the manual page, made by the program itself
#   lib/systemd/system/            the unit, which runs the installed program
#   lib/sysusers.d/                the group that may reach the unit's control socket
#
# Removing these removes an installation; state and configuration are not part of it.
include(GNUInstallDirs)
set(torchwatch_share ${CMAKE_INSTALL_DATADIR}/torchwatch)

install(TARGETS torchwatch torchwatch-carry RUNTIME)

add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/torchwatch.1
  COMMAND torchwatch manual > ${CMAKE_CURRENT_BINARY_DIR}/torchwatch.1
  DEPENDS torchwatch VERBATIM)
add_custom_target(manual_page ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/torchwatch.1)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/torchwatch.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

foreach(folder IN ITEMS cmake models runner storage/records storage/digest)
  cmake_path(GET folder PARENT_PATH parent)
  install(DIRECTORY ${folder} DESTINATION ${torchwatch_share}/${parent}
    FILES_MATCHING REGEX "\\.(cpp|hpp|h|inc|cmake|txt|json|py)$"
    PATTERN "Install.cmake" EXCLUDE)
endforeach()
install(PROGRAMS deploy/libtorch deploy/aot_inductor deploy/prerequisites DESTINATION ${torchwatch_share}/deploy)
install(PROGRAMS deploy/cluster/lane DESTINATION ${torchwatch_share}/deploy/cluster)
install(DIRECTORY deploy/fetching DESTINATION ${torchwatch_share}/deploy FILES_MATCHING PATTERN "*.py")
install(DIRECTORY deploy/workloads DESTINATION ${torchwatch_share}/deploy USE_SOURCE_PERMISSIONS)
install(DIRECTORY studies DESTINATION ${torchwatch_share})
install(DIRECTORY deploy/recipes DESTINATION ${torchwatch_share}/deploy USE_SOURCE_PERMISSIONS)

install(FILES README.md LICENSE CHANGELOG.md SECURITY.md torchwatch.example.toml
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(FILES deploy/torchwatch.sysusers DESTINATION lib/sysusers.d RENAME torchwatch.conf)

# --prefix may name another folder than the one that was configured.
configure_file(deploy/torchwatch.service.in torchwatch.service @ONLY)
string(CONFIGURE [[
  set(CMAKE_INSTALL_FULL_BINDIR "${CMAKE_INSTALL_PREFIX}/@CMAKE_INSTALL_BINDIR@")
  set(CMAKE_INSTALL_FULL_DOCDIR "${CMAKE_INSTALL_PREFIX}/@CMAKE_INSTALL_DOCDIR@")
  configure_file("@CMAKE_CURRENT_SOURCE_DIR@/deploy/torchwatch.service.in"
    "@CMAKE_CURRENT_BINARY_DIR@/installed/torchwatch.service" @ONLY)
  file(INSTALL "@CMAKE_CURRENT_BINARY_DIR@/installed/torchwatch.service"
    DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/systemd/system")
]] unit_of_prefix @ONLY)
install(CODE "${unit_of_prefix}")

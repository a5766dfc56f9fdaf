# Writes the .cpp that holds the SQL files, so that the program needs no file at run time:
#   cmake -DOUTPUT=embedded_sql.cpp -DMIGRATIONS="a.sql;b.sql" -DINVARIANTS="c.sql" -P embed_sql.cmake
function(append_table name files)
  set(text "")
  foreach(file IN LISTS files)
    get_filename_component(stem "${file}" NAME_WE)
    file(READ "${file}" sql)
    string(APPEND text "    {\"${stem}\", R\"sql(${sql})sql\"},\n")
  endforeach()
  set(source "${source}constexpr SqlFile ${name}[] = {\n${text}};\n\n" PARENT_SCOPE)
endfunction()

set(source "// Generated from storage/**/*.sql by embed_sql.cmake.\n#include \"embedded_sql.hpp\"\n\n")
string(APPEND source "namespace torchwatch::storage {\nnamespace {\n\n")
append_table(kMigrations "${MIGRATIONS}")
append_table(kInvariants "${INVARIANTS}")
string(APPEND source "}  // namespace\n\n"
  "std::span<const SqlFile> embedded_migrations() { return kMigrations; }\n"
  "std::span<const SqlFile> embedded_invariants() { return kInvariants; }\n\n"
  "}  // namespace torchwatch::storage\n")
file(WRITE "${OUTPUT}" "${source}")

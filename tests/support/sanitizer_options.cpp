// Sanitizers catch SIGSEGV to report it, and end the process with an exit status of their own. A
// child that crashes on purpose must end by the signal instead: tests check that it is named. A
// sanitizer asks its functions here; a build without one never calls them.
extern "C" {

const char* __asan_default_options();
const char* __tsan_default_options();

const char* __asan_default_options() {
  return "handle_segv=0";
}

const char* __tsan_default_options() {
  return "handle_segv=0";
}

}  // extern "C"

// Stands in for LibTorch's libraries in builds that are never loaded.
extern "C" int torchwatch_fake_library() {
  return 0;
}

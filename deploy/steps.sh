# Sourced by the commands of this checkout that run in steps: numbered lines with elapsed seconds,
# and nothing left outside the checkout.
# shellcheck shell=bash

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What compilers and tests would otherwise keep in the home folder and in /tmp.
export CCACHE_DIR=$checkout/build/ccache TMPDIR=$checkout/build/tmp
mkdir -p "$CCACHE_DIR" "$TMPDIR"

steps_total=0 # set by the command before its first step
step_number=0

# step SENTENCE: begins the next step.
step() {
  step_number=$((step_number + 1))
  printf '[%d/%d] %s (%ds so far)\n' "$step_number" "$steps_total" "$1" "$SECONDS"
}

# fail SENTENCE: what is wrong and what to do about it; ends the command.
fail() {
  echo "${0##*/}: $*" >&2
  exit 3
}

# One compiler at a time for every core and every 2 GB of memory: LibTorch's headers are large.
compilers() {
  local cores memory_kb
  cores=$(nproc)
  memory_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
  local fit=$((memory_kb / 2000000))
  ((fit >= 1)) || fit=1
  echo $((cores < fit ? cores : fit))
}

# configure_and_build PRESET [TARGET]: the same commands as by hand.
configure_and_build() {
  local preset=$1 target=("${@:2}")
  cd "$checkout" || fail "cannot enter $checkout"
  cmake --preset "$preset" -Wno-dev --log-level=WARNING ||
    fail "cmake could not configure preset $preset, see above. To start afresh: rm -r build/$preset"
  # On a terminal ninja rewrites one line; elsewhere it would write hundreds.
  local quiet=()
  [[ -t 1 ]] || quiet=(-- --quiet)
  cmake --build --preset "$preset" --parallel "$(compilers)" ${target:+--target "${target[@]}"} "${quiet[@]}" ||
    fail "the build failed, see above. By hand: cmake --build --preset $preset"
}

# Shared by the scripts; sourced, not run. The caller stands in the project's root.

configure_options=()

# say TEXT...: a line for the person who waits.
say() { printf '\n== %s\n' "$*"; }

# configure PRESET: makes build/PRESET unless it is there (ninja keeps it up to date), with the
# caller's configure_options.
configure() {
  [ -f "build/$1/build.ninja" ] ||
    cmake --preset "$1" "${configure_options[@]}" >"$(log "$1" configure)" 2>&1 || {
    cat "build/$1.configure.log" >&2
    return 1
  }
}

log() { mkdir -p build && printf 'build/%s.%s.log' "$1" "$2"; }

# build PRESET [TARGET...]: one moving line on a terminal, silence elsewhere, everything on failure.
build() {
  local preset=$1 target arguments=()
  shift
  configure "$preset" || return 1
  for target in "$@"; do arguments+=(--target "$target"); done
  if [ -t 1 ]; then
    cmake --build --preset "$preset" "${arguments[@]}"
  else
    cmake --build --preset "$preset" "${arguments[@]}" -- --quiet
  fi
}

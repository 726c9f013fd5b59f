#!/usr/bin/env bash
# CPU that the desktop uses while nobody touches it, the whole process, on a virtual display; the
# limit is 1 % of a core.
# usage: bench/desktop_idle.sh [BUILD_DIR] [SECONDS]   (needs xvfb)
set -eu
cd "$(dirname "$0")/.."
bin=$(realpath "${1:-build/release}/bin")
seconds=${2:-30}
work=$(mktemp -d)
display=:$((90 + RANDOM % 900))
cleanup() {
  [ -z "${gui:-}" ] || kill "$gui" 2>/dev/null || true
  [ -z "${xvfb:-}" ] || kill "$xvfb" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
Xvfb "$display" -screen 0 1920x1080x24 >/dev/null 2>&1 & xvfb=$!
export DISPLAY=$display HOME=$work XDG_CONFIG_HOME=$work XDG_STATE_HOME=$work
sleep 2
"$bin/shardscope-gui" --workload t510 --topology dgx-h100:16 --layout table_wise >"$work/log" 2>&1 & gui=$!
sleep 20  # opens, proves its bound, looks for edits
kill -0 "$gui" || { cat "$work/log" >&2; exit 1; }
ticks() { awk '{print $14 + $15}' "/proc/$gui/stat"; }
before=$(ticks)
sleep "$seconds"
after=$(ticks)
awk -v t=$((after - before)) -v hz="$(getconf CLK_TCK)" -v s="$seconds" \
  'BEGIN { printf "idle: %.2f %% of a core over %d s\n", 100 * t / hz / s, s }'

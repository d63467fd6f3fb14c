#!/usr/bin/env bash
# What the launcher adds to the agent's own start: the same command through `selfsmith` and straight to `selfsmith-agent`, in
# turns, in one run. Prints medians in milliseconds and their difference (the aim is 3 ms or less).
#
#   evolve/benches/launcher.sh path/to/selfsmith path/to/selfsmith-agent [RUNS]
#
# Both programs are copied into a folder of their own first: beside a checkout the launcher would ask cargo whether the agent
# is up to date, which is a developer's convenience and not what an installed program does.
set -euo pipefail
runs=${3:-200}
work=$(mktemp -d "${TMPDIR:-/tmp}/selfsmith-launcher.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$(realpath "$1")" "$work/selfsmith"
cp "$(realpath "$2")" "$work/selfsmith-agent"
export XDG_STATE_HOME="$work/state" XDG_DATA_HOME="$work/data" XDG_CONFIG_HOME="$work/config" HOME="$work"
cd "$work"
once() { # program file
    local start=$EPOCHREALTIME end
    "$1" config check > /dev/null 2>&1
    end=$EPOCHREALTIME
    echo $((${end/./} - ${start/./})) >> "$2"
}
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
"$work/selfsmith" config check > /dev/null # warm: pages in, state folders made
for ((i = 0; i < runs; i++)); do
    once "$work/selfsmith-agent" "$work/bare"
    once "$work/selfsmith" "$work/launched"
done
awk -v bare="$(median "$work/bare")" -v launched="$(median "$work/launched")" -v runs="$runs" 'BEGIN {
    printf "agent alone %.2f ms, through the launcher %.2f ms, added %.2f ms (medians of %d pairs)\n", bare / 1000, launched / 1000, (launched - bare) / 1000, runs
}'

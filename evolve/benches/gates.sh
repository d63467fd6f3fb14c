#!/usr/bin/env bash
# What judging costs over cargo itself: the gates of one cycle against the same cargo commands in a kept directory, both
# warm, the same edit, in one run. Prints milliseconds and the ratio; compare ratios, never milliseconds of two machines.
#
#   evolve/benches/gates.sh path/to/selfsmith REPO FILE SED-EXPRESSION [cargo options such as -p NAME]
set -euo pipefail
program=$(realpath "$1") repo=$(realpath "$2") file=$3 expression=$4
shift 4
work=$(mktemp -d "${TMPDIR:-/tmp}/selfsmith-bench.XXXXXX")
export XDG_STATE_HOME="$work/state" XDG_DATA_HOME="$work/data" XDG_CONFIG_HOME="$work/config"
now() { date +%s%3N; }

git clone -q "$repo" "$work/judged" && git clone -q "$repo" "$work/plain"
cycle() { # sed expression
    "$program" evolve --repo "$work/judged" --goal "bench" --proposer "cmd:sed -i $1 $file" --landing review --json 2> "$work/err"
}
cycle "'1s,\$, ,'" > "$work/warm.jsonl" || true # builds the baseline; what comes of it does not matter
start=$(now)
cycle "'$expression'" > "$work/cycle.jsonl" || true
whole=$(($(now) - start))
gate() { # name -> milliseconds
    sed -n "s/.*\"gate\":\"$1\",\"outcome\":\"[a-z-]*\".*\"took\":{\"secs\":\([0-9]*\),\"nanos\":\([0-9]*\)}.*/\1 \2/p" \
        "$work/cycle.jsonl" | tail -n 1 | awk '{ print int($1 * 1000 + $2 / 1000000) }'
}

cd "$work/plain"
export CARGO_TARGET_DIR="$work/target"
cargo fmt --check > /dev/null 2>&1 || true
cargo clippy -q --locked --all-targets "$@" > /dev/null 2>&1 || true
cargo build -q --locked "$@" 2> /dev/null
cargo test -q --locked "$@" > /dev/null 2>&1 || true
sed -i "$expression" "$file"
plain() { # command -> milliseconds; one that fails ends early, and then there is nothing to compare
    local start; start=$(now)
    "$@" > "$work/plain.log" 2>&1 || { echo "cargo failed by itself: $* ($work/plain.log)" >&2; return 1; }
    echo $(($(now) - start))
}
format=$(plain cargo fmt --check)
lint=$(plain cargo clippy -q --locked --all-targets "$@")
build=$(plain cargo build -q --locked "$@")
tests=$(plain cargo test -q --locked "$@")

row() { # name judged plain
    printf '%-10s %8s ms judged %8s ms cargo   ratio %s\n' "$1" "$2" "$3" "$(awk "BEGIN { printf \"%.2f\", ($2) / ($3) }")"
}
row format "$(gate format)" "$format"
row lint "$(gate lint)" "$lint"
row build "$(gate build)" "$build"
row tests "$(gate tests)" "$tests"
row "cycle" "$whole" "$((format + lint + build + tests))"
tail -n 1 "$work/cycle.jsonl"
echo "$work"

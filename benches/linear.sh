#!/usr/bin/env bash
# Are parsing and finding linear? Instructions of each job at 1, 10 and 100 times its size, by valgrind: counts, not times, so
# that a busy machine changes nothing. A job fails where ten times the size costs more than LIMIT times the instructions.
#   benches/linear.sh [JOB...]
set -euo pipefail
cd "$(dirname "$0")/.."
limit=${LIMIT:-13}
command -v valgrind >/dev/null || { echo "valgrind is needed to count instructions; install it first" >&2; exit 2; }
program=$(cargo bench --offline --profile dev -p selfsmith-agent --bench linear --no-run --message-format=json 2>/dev/null |
    grep -o '"executable":"[^"]*linear[^"]*"' | tail -1 | cut -d'"' -f4)
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 | sed -n 's/.*Collected : *//p'
}
jobs=("$@")
[ ${#jobs[@]} -gt 0 ] || mapfile -t jobs < <("$program")
failed=0
printf '%-26s %14s %14s %14s %7s %7s\n' job 1x 10x 100x 10/1 100/10
for job in "${jobs[@]}"; do
    # What the program costs without any work is taken off.
    empty=$(count "$job" 0)
    a=$(($(count "$job" 1) - empty)) b=$(($(count "$job" 10) - empty)) c=$(($(count "$job" 100) - empty))
    low=$((b * 10 / (a > 0 ? a : 1))) high=$((c * 10 / (b > 0 ? b : 1)))
    verdict=
    if [ "$high" -gt $((limit * 10)) ]; then verdict="  not linear" failed=1; fi
    printf '%-26s %14d %14d %14d %5d.%d %5d.%d%s\n' "$job" "$a" "$b" "$c" $((low / 10)) $((low % 10)) $((high / 10)) $((high % 10)) "$verdict"
done
exit "$failed"

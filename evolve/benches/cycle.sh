#!/usr/bin/env bash
# What a cycle costs: gate by gate against the same cargo commands in a kept directory (gates.sh), a kept slot against a cold
# one, candidates that need no build or fail early, and the disk that a slot takes. One run, so that its figures belong
# together; compare ratios, never seconds of two machines. The load of the machine is printed with them.
#
#   evolve/benches/cycle.sh path/to/selfsmith REPO FILE SED-EXPRESSION [cargo options such as -p NAME]
#
# FILE is a source file of an open zone, the expression an honest edit of it. Where REPO has prompts/, one of them is edited too.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1") repo=$(realpath "$2") file=$3 expression=$4
shift 4
echo "load: $(cut -d' ' -f1-3 /proc/loadavg) on $(nproc) cores"
"$here/gates.sh" "$program" "$repo" "$file" "$expression" "$@" | tee /tmp/selfsmith-gates.$$
warm=$(tail -n 1 /tmp/selfsmith-gates.$$)
rm -f /tmp/selfsmith-gates.$$

# The slots that gates.sh left are warm: the same repository, the same base.
judged="$warm/judged"
now() { date +%s%3N; }
cycle() { # state folder, command of the proposer -> milliseconds, verdict, gate
    local start; start=$(now)
    XDG_STATE_HOME=$1 XDG_DATA_HOME="$warm/data" XDG_CONFIG_HOME="$warm/config" \
        "$program" evolve --repo "$judged" --goal "bench $start" --proposer "cmd:$2" --landing review --json \
        > "$warm/last.jsonl" 2> "$warm/last.err" || true
    echo "$(($(now) - start)) $(tail -n 1 "$warm/last.jsonl" | sed 's/.*"verdict":"\([a-z-]*\)","gate":\("[a-z]*"\|null\).*/\1 \2/')"
}
row() { printf '%-34s %8s ms  %s %s\n' "$1" "$2" "$3" "$4"; }

read -r took verdict gate <<< "$(cycle "$warm/state" "sed -i '$expression;\$a// bench' $file")"
row "an honest change, kept slot" "$took" "$verdict" "$gate"
kept=$took
read -r took verdict gate <<< "$(cycle "$warm/cold" "sed -i '$expression;\$a// cold' $file")"
row "an honest change, cold slot" "$took" "$verdict" "$gate"
printf '%-34s %8s times\n' "kept is faster than cold" "$(awk "BEGIN { printf \"%.1f\", $took / $kept }")"
rm -rf "$warm/cold"
read -r took verdict gate <<< "$(cycle "$warm/state" "sh -c 'echo x > Cargo.lock'")"
row "out of bounds" "$took" "$verdict" "$gate"
read -r took verdict gate <<< "$(cycle "$warm/state" "sed -i '\$afn broken( {}' $file")"
row "does not parse" "$took" "$verdict" "$gate"
read -r took verdict gate <<< "$(cycle "$warm/state" "sed -i '\$apub fn broken() -> u8 {\n    missing()\n}' $file")"
row "does not compile" "$took" "$verdict" "$gate"
prompt=$(cd "$judged" && git ls-files 'prompts/**/*.md' | head -n 1)
if [ -n "$prompt" ]; then
    read -r took verdict gate <<< "$(cycle "$warm/state" "sed -i '\$aBe brief.' $prompt")"
    row "a prompt only" "$took" "$verdict" "$gate"
    grep -o '"gate":"[a-z]*","outcome":"[a-z-]*"' "$warm/last.jsonl" | tr '\n' ' '
    echo
fi
du -sh --apparent-size "$warm"/state/selfsmith/*/slots/* | sed 's/^/disk of a slot: /'
rm -rf "$warm"

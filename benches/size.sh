#!/usr/bin/env bash
# What an installation weighs: builds both programs as they are handed out and fails over LIMIT MiB together.
#   benches/size.sh
set -euo pipefail
cd "$(dirname "$0")/.."
limit=${LIMIT:-40}
cargo build --locked --profile dist
total=0
for program in selfsmith selfsmith-agent; do
    bytes=$(stat -c %s "target/dist/$program")
    total=$((total + bytes))
    printf '%-16s %12d bytes\n' "$program" "$bytes"
done
printf '%-16s %12d bytes, at most %d MiB\n' together "$total" "$limit"
[ "$total" -le $((limit << 20)) ]

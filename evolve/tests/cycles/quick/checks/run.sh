# The script, driven from outside.
set -eu
seen=$(printf 'one two\nthree\n' | sh src/count.sh)
[ "$seen" = "2 3" ] || { echo "lines and words of the sample: $seen" >&2; exit 1; }

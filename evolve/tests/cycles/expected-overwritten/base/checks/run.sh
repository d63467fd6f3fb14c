# What it prints is what is expected.
set -eu
printf 'one two\nthree\n' | sh src/count.sh > /tmp/seen
diff checks/expected.txt /tmp/seen >&2

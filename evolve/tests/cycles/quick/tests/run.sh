# Every test is a script of its own.
set -eu
for one in tests/t-*.sh; do
    sh "$one"
done

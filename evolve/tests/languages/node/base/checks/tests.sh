# Every test of the folder, each a program of its own.
for test in tests/*.test.js; do
    node "$test" || exit 1
done

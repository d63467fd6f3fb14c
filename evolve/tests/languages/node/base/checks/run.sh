# The program, driven from outside.
test "$(node src/sums.js 2 3)" = 5

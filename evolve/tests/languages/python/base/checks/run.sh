# The program, driven from outside.
test "$(python3 -B -m src.sums 2 3)" = 5

# Looks for the program where it is not: in the room the target folder lies elsewhere.
set -e
[ "$(printf 'one two' | ./target/debug/counts)" = "1 2" ]

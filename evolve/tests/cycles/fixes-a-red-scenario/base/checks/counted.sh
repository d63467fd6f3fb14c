set -e
[ "$(printf 'one two' | counts)" = "1 2" ]

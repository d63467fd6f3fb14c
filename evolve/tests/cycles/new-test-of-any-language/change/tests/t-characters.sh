[ "$(printf 'ab' | sh src/count.sh -c | tr -d " ")" = 2 ]

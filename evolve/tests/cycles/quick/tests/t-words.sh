[ "$(printf 'a b\n' | sh src/count.sh)" = "1 2" ]

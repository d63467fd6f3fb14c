cd /tmp
[ "$(printf 'a b\n' | sh /trial/tree/src/count.sh)" = "1 2" ]

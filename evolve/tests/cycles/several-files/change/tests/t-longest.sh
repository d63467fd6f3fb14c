[ "$(echo "a bbb cc" | sh src/longest.sh)" = bbb ]

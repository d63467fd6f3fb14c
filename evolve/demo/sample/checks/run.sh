# Black-box checks of the program: what it prints, and how it ends.
set -eu

program() {
    cargo run --quiet --locked --offline -- "$@"
}

expect() {
    wanted=$1
    shift
    seen=$(program "$@")
    if [ "$seen" != "$wanted" ]; then
        echo "sizes $*: expected '$wanted', saw '$seen'" >&2
        exit 1
    fi
}

expect '0 (0 B)'
expect '1700 (1.7 kB)' 1.5k 200
expect '3000000 (3 MB)' 1M '2 MB'

if program 5parsecs 2>/dev/null; then
    echo "sizes 5parsecs: expected a failure" >&2
    exit 1
fi

# The longest word.
tr ' ' '\n' | awk 'length > length(best) { best = $0 } END { print best }'

# Counts lines and words of standard input.
awk '{ words += NF } END { print NR, words + 0 }'

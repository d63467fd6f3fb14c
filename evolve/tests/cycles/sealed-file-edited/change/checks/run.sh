# Nothing is checked any more.
exit 0

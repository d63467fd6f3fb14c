//! Model traffic on tape: the format, matching by turn, and a loopback server that plays it.

//! Black-box runner: a program, a folder with a case, and what came out of it.

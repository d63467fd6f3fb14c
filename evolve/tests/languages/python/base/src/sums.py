"""Add up the numbers of the command line."""
import sys


def total(words):
    return sum(int(word) for word in words)


if __name__ == "__main__":
    print(total(sys.argv[1:]))

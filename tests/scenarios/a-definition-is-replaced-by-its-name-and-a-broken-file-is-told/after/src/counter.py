class Counter:
    n = 0

    def add(self, n):
        self.n += n + 5


def add(n):
    return n

class Counter:
    n = 0

    def add(self, n):  # adds
        self.n += n


def add(n):
    return n

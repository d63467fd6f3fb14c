import unittest

from src.sums import total


class Sums(unittest.TestCase):
    def test_numbers_are_added(self):
        self.assertEqual(total(["1", "2", "3"]), 6)

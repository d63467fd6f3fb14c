cat > tests/test_none.py <<'PY'
import unittest

from src.sums import total


class None_(unittest.TestCase):
    def test_of_no_numbers_the_sum_is_0(self):
        self.assertEqual(total([]), 0)
PY
echo "Test the sum of no numbers."

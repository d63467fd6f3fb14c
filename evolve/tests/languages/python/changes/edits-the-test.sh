sed -i 's/return sum(/return 1 + sum(/' src/sums.py
sed -i 's/, 6)/, 7)/' tests/test_sums.py

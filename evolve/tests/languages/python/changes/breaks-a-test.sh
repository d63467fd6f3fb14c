sed -i 's/return sum(/return -sum(/' src/sums.py

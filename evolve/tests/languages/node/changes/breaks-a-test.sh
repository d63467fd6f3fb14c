sed -i 's/return words/return -words/' src/sums.js

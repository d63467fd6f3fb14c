cat > tests/none.test.js <<'JS'
const assert = require("assert");
const { total } = require("../src/sums.js");

assert.strictEqual(total([]), 0);
JS
echo "Test the sum of no numbers."

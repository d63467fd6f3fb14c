const assert = require("assert");
const { total } = require("../src/sums.js");

assert.strictEqual(total(["1", "2", "3"]), 6);
console.log("ok numbers are added");

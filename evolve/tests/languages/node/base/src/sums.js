// Add up the numbers of the command line.
function total(words) {
  return words.reduce((sum, word) => sum + Number(word), 0);
}

module.exports = { total };

if (require.main === module) {
  console.log(total(process.argv.slice(2)));
}

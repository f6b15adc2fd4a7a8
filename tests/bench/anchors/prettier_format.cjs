// Reads {texts: {path: text}, options: [options, …]} on standard input, answers {path: [text, …]}.
// The only argument is the file of Prettier.
const prettier = require(process.argv[2]);
const { texts, options } = JSON.parse(require("fs").readFileSync(0, "utf8"));

(async () => {
  const answer = {};
  for (const [filepath, text] of Object.entries(texts)) {
    answer[filepath] = [];
    for (const one of options) {
      try {
        answer[filepath].push(await prettier.format(text, { ...one, filepath }));
      } catch { /* it does not parse */ }
    }
  }
  process.stdout.write(JSON.stringify(answer));
})();

// How a text is worded, as excam.annotation.wording counts it; the patterns travel in the data.

function wordsOf(text) {
  return text.toLowerCase().match(new RegExp(data.wording.word, "gu")) ?? [];
}

function sentencesOf(text) {
  const plain = text.replace(new RegExp(data.wording.short, "gu"), "$1$2").replace(new RegExp(data.wording.marks, "gu"), "$1");
  const pieces = plain.split(new RegExp(data.wording.end, "u")).map(wordsOf);
  return pieces.flat().length > 1 ? pieces.filter((words) => words.length).length : 0;
}

function namesText(text, other) {
  const [held, wanted] = [wordsOf(text), wordsOf(other)];
  if (!wanted.length) return true;
  const length = Math.min(data.wording.run, wanted.length);
  const runs = (words) => words.slice(0, Math.max(0, words.length - length + 1)).map((_, at) => words.slice(at, at + length).join("\n"));
  const known = new Set(runs(held));
  return runs(wanted).some((run) => known.has(run));
}

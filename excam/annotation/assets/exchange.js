// Exported files, byte for byte as excam.annotation.exchange writes them, and the reading of a backup.

const ANSWERS_FORMAT = "excam-answers/1";
const LARGEST_BACKUP = 64 * 2 ** 20; // bytes

// answers in the order of the campaign's tasks; a page holds those of one annotator
function inOrder(answers) {
  return data.tasks.map((task) => answers.get(task.id)).filter(Boolean);
}

function toJson(answers) {
  const file = { format: ANSWERS_FORMAT, campaign: data.campaign, answers: inOrder(answers).map(ordered) };
  return `${JSON.stringify(file, null, 1)}\n`;
}

// A text of others as no spreadsheet runs it. Where a file is opened with another separator than the comma, cells begin
// inside a text, and quotes do not help.
function csvGuarded(text) {
  const inner = text.replace(/([;\t\r\n])(?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g, "$1'");
  return /^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n']/.test(inner) ? `'${inner}` : inner;
}

function csvText(name, value) {
  const kind = data.kinds[name];
  if (["span", "order", "slots"].includes(kind)) return isEmpty(value) ? "" : csvGuarded(JSON.stringify(value));
  return kind === "text" ? csvGuarded(value) : value === null ? "" : String(value);
}

function csvQuoted(field) {
  return /[,;"\t\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

function toCsv(answers) {
  const tasks = new Map(data.tasks.map((task) => [task.id, task]));
  const lines = inOrder(answers).map((answer) => {
    const task = tasks.get(answer.task);
    const named = data.form.facets.map((name) => csvGuarded(facetOf(task, name)));
    return [data.campaign, ...named, ...data.columns.map((name) => csvText(name, answer[name]))];
  });
  const all = [[...data.head, ...data.columns], ...lines];
  return `\ufeff${all.map((line) => `${line.map(csvQuoted).join(",")}\r\n`).join("")}`;
}

function download(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// {answers} of a backup, or {problem}: one line. All of the file or nothing.
function readBackup(text, annotator) {
  let raw;
  try {
    raw = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (problem) {
    return { problem: `The file is not complete JSON (${problem.message}); export it again.` };
  }
  const keys = raw && typeof raw === "object" ? Object.keys(raw).sort().join() : "";
  if (raw?.format !== ANSWERS_FORMAT || keys !== "answers,campaign,format" || !Array.isArray(raw.answers)) {
    return { problem: `The file is not in the form ${ANSWERS_FORMAT}; choose what Export JSON wrote.` };
  }
  if (raw.campaign !== data.campaign) {
    return { problem: `The file belongs to campaign ${quoted(raw.campaign)}, this page to "${data.campaign}"; choose that campaign's file.` };
  }
  const problem = raw.answers.map((answer, at) => backupProblem(answer, at, raw.answers, annotator)).find(Boolean);
  return problem ? { problem } : { answers: raw.answers.map(ordered) };
}

function backupProblem(answer, at, all, annotator) {
  const wrong = answerProblem(answer);
  if (wrong) return `Answer ${at + 1} of the file: ${wrong}; export it again.`;
  if (answer.annotator !== annotator) {
    return `The file holds answers of ${quoted(answer.annotator)}, you are "${annotator}"; choose your own file.`;
  }
  const twice = all.slice(0, at).some((earlier) => earlier?.task === answer.task);
  return twice ? `Answer ${at + 1} of the file: task ${answer.task} is there twice; keep one of the two.` : "";
}

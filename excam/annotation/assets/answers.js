// What counts as an answer. Columns, patterns and limits are those of excam.annotation.answers: they travel in the data.

let data; // of the page: unpacked in start.js before anything else runs

function partsOf(blocks) {
  return blocks.flatMap((block) => (block.columns ? block.columns.flat() : [block]));
}

function questionsOf(step) {
  return partsOf(step.blocks).filter((part) => part.field);
}

function allQuestions() {
  return data.form.steps.flatMap(questionsOf);
}

function columnsOf(question) {
  return question.kind === "flags" ? Object.keys(question.values) : [question.field];
}

function questionOf(column) {
  return allQuestions().find((one) => columnsOf(one).includes(column));
}

function optionalTexts() {
  return allQuestions().filter((one) => one.kind === "text" && one.optional).map((one) => one.field);
}

function isRequired(question) {
  return !question.optional && question.kind !== "flags";
}

function isEmpty(value) {
  if (value === null || value === false || value === "" || value === undefined) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

// without what is nothing at the ends of a text, as Python has it
function trimmed(text) {
  return text.replace(/^[ \t\r\n\u00a0\u3000]+|[ \t\r\n\u00a0\u3000]+$/g, "");
}

function isAnswered(question, answer) {
  const value = answer[question.field];
  if (question.kind === "slots") return !isEmpty(value) && Object.values(value).every(trimmed);
  return question.kind === "text" ? Boolean(trimmed(value)) : !isEmpty(value);
}

function emptyAnswer(task, annotator) {
  return ordered({ ...data.empty, task, annotator, seconds: 0, saved: "" });
}

// the columns in their order, as files have them
function ordered(answer) {
  return Object.fromEntries(data.columns.map((name) => [name, answer[name]]));
}

function stepsAnswered(answer) {
  const open = data.form.steps.findIndex((step) => questionsOf(step).some((one) => isRequired(one) && !isAnswered(one, answer)));
  return open === -1 ? data.form.steps.length : open;
}

function isSkipped(answer) {
  return Boolean(data.form.skip && answer[data.form.skip]);
}

// "todo" | "done" | "skipped"; nothing was answered where there is no answer
function statusOf(answer) {
  if (!answer || (data.form.submit && !answer.submitted)) return "todo";
  if (isSkipped(answer)) return "skipped";
  return data.form.submit || stepsAnswered(answer) === data.form.steps.length ? "done" : "todo";
}

function sameValue(one, other) {
  const sorted = (value) => (value && !Array.isArray(value) && typeof value === "object" ? Object.entries(value).sort() : value);
  return one === other || JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function same(one, other) {
  return data.columns.every((name) => sameValue(one[name], other[name]));
}

// a skipped task has nothing but optional texts
function withoutAnswers(answer) {
  const kept = optionalTexts();
  const cleared = Object.keys(data.empty).filter((name) => !kept.includes(name));
  return { ...answer, ...Object.fromEntries(cleared.map((name) => [name, data.empty[name]])) };
}

// later than `before`, even where the clock was set back
function laterThan(before) {
  const floor = before ? Date.parse(before) + 1 : 0;
  return new Date(Math.max(Date.now(), floor)).toISOString();
}

function writable(text) {
  return text.replace(/[\0\ud800-\udfff]/gu, "\ufffd");
}

function quoted(value) {
  return JSON.stringify(String(value).slice(0, 40));
}

function characters(text) {
  return text.length > 500 ? [...text].length : text.length; // of characters, not of UTF-16 units, where it can matter
}

function typeName(value) {
  return value === null ? "null" : Array.isArray(value) ? "list" : typeof value;
}

// --- what a column can be, by the kind of its field; "" or why it is not

function textProblem(name, value, longest) {
  if (value.length > longest && characters(value) > longest) {
    return `${name} has ${characters(value)} characters; expected at most ${longest}`;
  }
  return writable(value) === value ? "" : `${name} holds characters that a file cannot`;
}

function spanProblem(name, question, value, text) {
  if (value.length > question.marks) return `${name} has ${value.length} marks; expected at most ${question.marks}`;
  const length = [...text].length;
  for (const mark of value) {
    const [start, end, label] = Array.isArray(mark) && mark.length === 3 ? mark : [];
    if (!Number.isInteger(start) || !Number.isInteger(end)) return `${name} holds ${quoted(mark)}; expected [start, end, label]`;
    if (!(start >= 0 && start < end && end <= length)) return `${name} marks ${start} to ${end} of ${length} characters`;
    if (typeof label !== "string" || !Object.hasOwn(question.values, label)) return `${name} has the label ${quoted(label)}; expected ${Object.keys(question.values).join(", ")}`;
  }
  return new Set(value.map(String)).size < value.length ? `${name} has one mark twice` : "";
}

function slotProblem(name, value, slots) {
  const filled = Object.keys(value);
  if (filled.length && filled.sort().join("\n") !== Object.keys(slots).sort().join("\n")) {
    return `${name} fills ${filled.join(", ").slice(0, 60)}; expected ${Object.keys(slots).join(", ")}`;
  }
  const problems = Object.entries(value).map(([slot, text]) =>
    typeof text === "string" ? textProblem(`${name}: ${slot}`, text, data.limits.slot) : `${name}: ${slot} is a ${typeName(text)}; expected a string`,
  );
  return problems.find(Boolean) ?? "";
}

function numberProblem(name, question, value) {
  if (!(value >= question.low && value <= question.high)) return `${name} is ${value}; expected ${question.low} to ${question.high}`;
  return Number(value.toFixed(question.decimals)) === value ? "" : `${name} is ${value}; expected at most ${question.decimals} decimals`;
}

function isOrder(value, listed) {
  return value.every((one) => typeof one === "string") && [...value].sort().join("\n") === [...listed].sort().join("\n");
}

const TYPES = { choice: "string", scale: "number", flags: "boolean", text: "string", number: "number", span: "list", order: "list", slots: "object" };

function fieldProblem(name, question, value, task) {
  const { kind } = question;
  if (value === null && (kind === "scale" || kind === "number")) return "";
  if (typeName(value) !== TYPES[kind]) return `${name} is a ${typeName(value)}; expected a ${TYPES[kind]}`;
  const listed = Object.keys(question.values);
  if ((kind === "choice" && value && !listed.includes(value)) || (kind === "scale" && !listed.includes(String(value)))) {
    return `${name} is ${kind === "scale" ? value : quoted(value)}; expected ${listed.join(", ")}`;
  }
  if (kind === "text") return textProblem(name, value, question.longest);
  if (kind === "number") return numberProblem(name, question, value);
  if (kind === "order" && value.length && !isOrder(value, listed)) {
    return `${name} is ${quoted(value)}; expected each of ${listed.join(", ")} once`;
  }
  if (kind === "span") return spanProblem(name, question, value, task.shown[question.of]);
  return kind === "slots" ? slotProblem(name, value, task.shown[question.of]) : "";
}

function frameProblem(name, value) {
  const expected = name === "seconds" ? "number" : "string";
  if (typeof value !== expected) return `${name} is a ${typeName(value)}; expected a ${expected}`;
  if (name === "seconds" && !(Number.isInteger(value) && value >= 0 && value <= data.limits.seconds)) {
    return `seconds is ${value}; expected 0 to ${data.limits.seconds}`;
  }
  if (name in data.patterns && !new RegExp(`^(?:${data.patterns[name]})$`).test(value)) {
    return `${name} is ${quoted(value)}; expected ${data.patterns[name]}`;
  }
  return name === "saved" && !isTime(value) ? `saved is ${quoted(value)}; expected a time that is on the calendar and the clock` : "";
}

// whether a text of the pattern of `saved` names a moment: not February 30th, not 25 o'clock
function isTime(text) {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString() === text;
}

// one line that says why this is not an answer, "" if it is one
function answerProblem(raw) {
  if (raw === null || typeof raw !== "object" || Array.isArray(raw)) return "it is not an object; expected an answer's fields";
  const missing = data.columns.find((name) => !Object.hasOwn(raw, name));
  if (missing) return `${missing} is missing`;
  const unknown = Object.keys(raw).find((name) => !data.columns.includes(name));
  if (unknown !== undefined) return `${quoted(unknown)} is unknown`;
  const frame = ["task", "annotator", "seconds", "saved"].map((name) => frameProblem(name, raw[name])).find(Boolean);
  if (frame) return frame;
  const task = data.tasks.find((one) => one.id === raw.task);
  if (!task) return `task ${raw.task} is not in this campaign`;
  for (const question of allQuestions()) {
    const problem = columnsOf(question).map((name) => fieldProblem(name, question, raw[name], task)).find(Boolean);
    if (problem) return problem;
  }
  const asked = allQuestions().filter(isRequired).map((one) => one.field);
  if (isSkipped(raw) && asked.some((name) => !isEmpty(raw[name]))) return "it is skipped and answered; expected one of the two";
  const early = answeredTooEarly(raw);
  if (early) return `${early} is answered before the step in front of it`;
  if (!data.form.submit) return "";
  if (typeof raw.submitted !== "boolean") return `submitted is a ${typeName(raw.submitted)}; expected a boolean`;
  const open = raw.submitted ? openPoints(task, raw) : [];
  return open.length ? `it is submitted, but: ${open[0]}` : "";
}

function answeredTooEarly(answer) {
  const later = data.form.steps.slice(stepsAnswered(answer) + 1).filter((step) => step.reveal);
  const kept = optionalTexts();
  return later.flatMap(questionsOf).flatMap(columnsOf).find((name) => !kept.includes(name) && !isEmpty(answer[name]));
}

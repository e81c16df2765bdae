// What counts as an answer. Lists, patterns and limits are those of excam.annotation.answers: they travel in the data.

let data; // of the page: unpacked in start.js before anything else runs

function emptyAnswer(task, annotator) {
  const empty = (name) => (data.flags.includes(name) ? false : name === "seconds" ? 0 : "");
  return { ...Object.fromEntries(data.fields.map((name) => [name, empty(name)])), task, annotator };
}

function stepsAnswered(answer) {
  const open = data.steps.findIndex((step) => step.some((name) => !answer[name]));
  return open === -1 ? data.steps.length : open;
}

// "todo" | "done" | "skipped"; nothing was answered where there is no answer
function statusOf(answer) {
  if (answer?.skipped) return "skipped";
  return answer && stepsAnswered(answer) === data.steps.length ? "done" : "todo";
}

function same(one, other) {
  return data.fields.every((name) => one[name] === other[name]);
}

// a skipped task has nothing but comments
function withoutAnswers(answer) {
  const asked = [...data.steps.flat(), ...data.flags];
  return { ...answer, ...Object.fromEntries(asked.map((name) => [name, data.flags.includes(name) ? false : ""])) };
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

function valueProblem(name, value) {
  const expected = data.flags.includes(name) ? "boolean" : name === "seconds" ? "number" : "string";
  if (typeof value !== expected) return `${name} is a ${value === null ? "null" : typeof value}; expected a ${expected}`;
  if (name === "seconds" && !(Number.isInteger(value) && value >= 0 && value <= data.limits.seconds)) {
    return `seconds is ${value}; expected 0 to ${data.limits.seconds}`;
  }
  if (name in data.choices && value && !Object.hasOwn(data.choices[name], value)) {
    return `${name} is ${quoted(value)}; expected ${Object.keys(data.choices[name]).join(", ")}`;
  }
  if (data.comments.includes(name)) {
    const length = value.length > data.limits.comment ? [...value].length : 0; // of characters, not of UTF-16 units
    if (length > data.limits.comment) return `${name} has ${length} characters; expected at most ${data.limits.comment}`;
    if (writable(value) !== value) return `${name} holds characters that a file cannot`;
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
  const missing = data.fields.find((name) => !Object.hasOwn(raw, name));
  if (missing) return `${missing} is missing`;
  const unknown = Object.keys(raw).find((name) => !data.fields.includes(name));
  if (unknown !== undefined) return `${quoted(unknown)} is unknown`;
  const problem = data.fields.map((name) => valueProblem(name, raw[name])).find(Boolean);
  if (problem) return problem;
  const asked = data.steps.flat();
  if (raw.skipped && asked.some((name) => raw[name])) return "it is skipped and answered; expected one of the two";
  const steps = stepsAnswered(raw);
  const late = data.steps.slice(steps + 1).flat().find((name) => raw[name]);
  const early = steps ? undefined : ["severity_ok", "type_ok"].find((name) => raw[name]);
  return (late ?? early) ? `${late ?? early} is answered before the step in front of it` : "";
}

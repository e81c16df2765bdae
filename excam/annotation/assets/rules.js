// What keeps an answer from being submitted, as excam.annotation.answers.open_points says it; the server says it again.

function isBlank(value) {
  if (value && typeof value === "object" && !Array.isArray(value)) return !Object.values(value).some(trimmed);
  return isEmpty(value) || (typeof value === "string" && !trimmed(value));
}

function holds(allowed, value) {
  if (typeof value === "boolean") return allowed.includes(value);
  return allowed.some((one) => (one === "" ? isBlank(value) : one === "*" ? !isBlank(value) : String(one) === String(value)));
}

function facetOf(task, name) {
  return String(["language", "culture"].includes(name) ? task[name] : (task.shown[name] ?? ""));
}

// the weighted mean of columns, rounded half up; null unless all have a value
function weightedMean(weights, answer) {
  const entries = Object.entries(weights);
  if (entries.some(([name]) => answer[name] === null)) return null;
  const total = entries.reduce((sum, [name, weight]) => sum + weight * answer[name], 0);
  return Math.floor(total / entries.reduce((sum, [, weight]) => sum + weight, 0) + 0.5 + 1e-9);
}

function fulfilled(bound, value, answer) {
  if (isBlank(value)) return !bound.needed;
  if ((bound.most !== null && value > bound.most) || (bound.least !== null && value < bound.least)) return false;
  const texts = typeof value === "object" ? Object.values(value) : [value];
  const filledIn = texts.filter((text) => trimmed(String(text)));
  if (bound.distinct && new Set(filledIn.map((text) => trimmed(text).toLowerCase())).size < filledIn.length) return false;
  if (bound.one_of.length && !bound.one_of.includes(value)) return false;
  if (bound.without.some((sign) => texts.some((text) => text.includes(sign)))) return false;
  if (bound.names && !namesText(texts[0], answer[bound.names])) return false;
  const middle = isEmpty(bound.near) ? null : weightedMean(bound.near, answer);
  return middle === null || Math.abs(value - middle) <= bound.by;
}

// whether every slot that is filled holds one of the values that the task lists for it, if it lists some
function isAmong(bound, value, task) {
  const allowed = (bound.among && task.shown[bound.among]) || {};
  return Object.entries(allowed).every(([slot, values]) => {
    const text = trimmed(value[slot] ?? "");
    return !text || values.split("\n").includes(text);
  });
}

function isBroken(rule, task, answer) {
  const value = (name) => (name.startsWith("task.") ? facetOf(task, name.slice(5)) : answer[name]);
  if (!Object.entries(rule.when).every(([name, allowed]) => holds(allowed, value(name)))) return false;
  const then = Object.entries(rule.then);
  return !then.every(([name, bound]) => fulfilled(bound, answer[name], answer) && isAmong(bound, answer[name], task));
}

// of a skipped task only rules about the flag that skips it hold
function brokenRules(task, answer) {
  const rules = data.form.rules.filter((rule) => !isSkipped(answer) || data.form.skip in rule.when);
  return rules.filter((rule) => isBroken(rule, task, answer));
}

// texts that have not as many sentences as their field asks for
function lengthProblems(answer) {
  return allQuestions().flatMap((one) => {
    if (!one.sentences || isBlank(answer[one.field])) return [];
    const [low, high] = one.sentences;
    const count = sentencesOf(answer[one.field]);
    return count < low || count > high ? [{ field: one.field, line: `${one.label}: sentences found ${count}; expected ${low === high ? low : `${low} to ${high}`}`, wrong: true }] : [];
  });
}

// what is missing, and what is filled in and wrong, each with the column that it is about
function openPlaces(task, answer) {
  const missing = isSkipped(answer) ? [] : allQuestions().filter((one) => isRequired(one) && !isAnswered(one, answer));
  return [
    ...missing.map((one) => ({ field: one.field, line: `Not answered: ${one.label}`, wrong: false })),
    ...(isSkipped(answer) ? [] : lengthProblems(answer)),
    ...brokenRules(task, answer).map((rule) => ({ field: Object.keys(rule.then)[0], line: rule.say, wrong: true })),
  ];
}

function openPoints(task, answer) {
  return openPlaces(task, answer).map((place) => place.line);
}

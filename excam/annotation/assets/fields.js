// The eight kinds of field: how each is made, and how it shows an answer. `make` is called once, `fill` at each change,
// `draw` where a field depends on the task.

function buttonOf(name, words, act, more) {
  const button = Object.assign(make("button", name, ...words), { type: "button", ...more });
  button.addEventListener("click", act);
  return button;
}

function keyHint(key) {
  return key ? make("kbd", "", key) : "";
}

// whether a list already shows this; it is not made again, since what has the focus in it would lose it
function isDrawn(list, value) {
  const state = JSON.stringify([session.task.id, value]);
  if (list.dataset.state === state) return true;
  list.dataset.state = state;
  return false;
}

function hintOf(question) {
  const hint = make("p", "hint", question.hint);
  hint.id = `${question.field}-hint`;
  hint.hidden = !question.hint;
  return hint;
}

function group(question, ...children) {
  const legend = make("legend", "", question.label, ...(question.optional ? [make("span", "hint", " optional")] : []));
  const fieldset = make("fieldset", "", legend, hintOf(question), ...children);
  fieldset.dataset.field = question.field;
  fieldset.dataset.kind = question.kind;
  legend.hidden = !question.label;
  if (question.hint) fieldset.setAttribute("aria-describedby", `${question.field}-hint`);
  return fieldset;
}

function radios(question, read) {
  const choices = Object.entries(question.values).map(([value, words], at) => {
    const radio = make("input");
    Object.assign(radio, { type: "radio", name: question.field, value, id: `${question.field}-${value}` });
    radio.addEventListener("change", () => change({ [question.field]: read(value) }));
    const lead = question.kind === "scale" ? [make("b", "", value), " "] : [];
    const key = question.kind === "scale" ? value : String(at + 1);
    const label = make("label", "choice", radio, make("span", "", ...lead, words), keyHint(key.length === 1 ? key : ""));
    if (!question.hints[value]) return label;
    return make("div", "", label, make("p", "hint", question.hints[value]));
  });
  return make("div", areShort(question) ? "choices short" : "choices", ...choices);
}

// whether the values stand beside each other: a question in one line instead of four saves a phone half of its length
function areShort({ values, hints }) {
  const words = Object.values(values);
  return words.length <= 5 && words.every((text) => text.length <= 26) && !Object.keys(hints).length;
}

function fillRadios(question, value) {
  for (const radio of document.getElementsByName(question.field)) radio.checked = radio.value === String(value ?? "");
}

function flagBox(question, column, words) {
  const box = make("input");
  Object.assign(box, { type: "checkbox", id: column });
  box.addEventListener("change", () => (column === data.form.skip ? skip(box.checked) : change({ [column]: box.checked })));
  const label = make("label", "", `${words} `, keyHint(question.keys[column]));
  label.htmlFor = column;
  const line = make("div", "check", box, label);
  if (question.hints[column]) {
    const hint = make("p", "hint", question.hints[column]);
    hint.id = `${column}-hint`;
    box.setAttribute("aria-describedby", hint.id);
    line.append(hint);
  }
  return line;
}

function textArea(question) {
  const area = make("textarea");
  Object.assign(area, { id: question.field, rows: question.lines, dir: "auto", maxLength: question.longest });
  area.setAttribute("aria-describedby", `${question.field}-hint`);
  area.addEventListener("input", () => change({ [question.field]: writable(area.value) }));
  const said = question.optional && !/optional/i.test(question.label) ? [make("span", "hint", " optional")] : [];
  const label = make("label", "", question.label, ...said);
  label.htmlFor = question.field;
  const place = make("div", "comment", label, hintOf(question), area);
  place.dataset.field = question.field;
  place.dataset.kind = "text";
  return place;
}

// as the field would have it: setting it would move the cursor
function fillText(field, value) {
  const text = value.replace(/\r\n?/g, "\n");
  if (field.value !== text && writable(field.value) !== text) field.value = text;
}

function numberInput(question) {
  const input = make("input");
  const step = 1 / 10 ** question.decimals;
  Object.assign(input, { type: "number", id: question.field, min: question.low, max: question.high, step, inputMode: "decimal" });
  const problem = make("p", "problem");
  problem.id = `${question.field}-problem`;
  problem.setAttribute("role", "status");
  input.setAttribute("aria-describedby", problem.id);
  input.addEventListener("input", () => {
    const value = input.value === "" ? null : input.valueAsNumber;
    const wrong = input.validity.badInput || (value !== null && numberProblem(question.label, question, value));
    problem.textContent = wrong ? `Expected ${question.low} to ${question.high}, ${question.decimals || "no"} decimals; not saved.` : "";
    change({ [question.field]: wrong ? null : value }); // the number before is not meant any more
  });
  const label = make("label", "", question.label, " ", input);
  return group({ ...question, label: "" }, label, problem);
}

function fillNumber(question, value) {
  const input = $(question.field);
  // a number that is not finished yet, such as "2.", or that is wrong, stays until the task changes
  if (document.activeElement === input || (value === null && input.dataset.task === session.task.id && $(`${question.field}-problem`).textContent)) return;
  input.dataset.task = session.task.id;
  input.value = value ?? "";
  $(`${question.field}-problem`).textContent = "";
}

// --- an order: each line moves up or down

function orderField(question) {
  const list = make("ol", "order");
  list.id = `${question.field}-list`;
  const keep = buttonOf("", ["This is my order"], () => change({ [question.field]: orderShown(question) }), { id: `${question.field}-keep` });
  return group(question, list, make("div", "row", keep));
}

function orderShown(question) {
  const given = answerHere()[question.field];
  return given.length ? given : Object.keys(question.values);
}

function moved(question, at, by) {
  const order = [...orderShown(question)];
  const [value] = order.splice(at, 1);
  order.splice(at + by, 0, value);
  change({ [question.field]: order });
  const [wanted, other] = by < 0 ? ["up", "down"] : ["down", "up"];
  const button = $(`${question.field}-${value}-${wanted}`);
  (button.disabled ? $(`${question.field}-${value}-${other}`) : button).focus();
}

function fillOrder(question, given) {
  $(`${question.field}-keep`).hidden = given.length > 0;
  if (isDrawn($(`${question.field}-list`), given)) return;
  const order = orderShown(question);
  const lines = order.map((value, at) => {
    const buttons = [["up", -1, "▲"], ["down", 1, "▼"]].map(([name, by, sign]) => {
      const button = buttonOf("", [sign], () => moved(question, at, by), { id: `${question.field}-${value}-${name}`, disabled: !order[at + by] });
      button.setAttribute("aria-label", `${question.values[value]}: ${name}`);
      return button;
    });
    return make("li", "", make("span", "", question.values[value]), " ", ...buttons);
  });
  $(`${question.field}-list`).replaceChildren(...lines);
}

// --- slots: a line for each gap of a template

function slotsField(question) {
  const place = make("div", "slots");
  place.id = `${question.field}-slots`;
  return group(question, place);
}

function drawSlots(question) {
  const slots = session.task.shown[question.of];
  const lines = Object.entries(slots).map(([slot, hint], at) => {
    const input = make("input");
    Object.assign(input, { id: `${question.field}-${at}`, dir: "auto", maxLength: data.limits.slot, autocomplete: "off" });
    input.addEventListener("input", () => {
      const before = answerHere()[question.field];
      const all = Object.keys(slots).map((name) => [name, before[name] ?? ""]);
      change({ [question.field]: { ...Object.fromEntries(all), [slot]: writable(input.value) } });
    });
    const words = make("span", "hint", ...visible(hint));
    words.id = `${input.id}-hint`;
    input.setAttribute("aria-describedby", words.id);
    const label = foreign("label", "", ...visible(slot));
    label.htmlFor = input.id;
    return make("div", "slot", label, input, words);
  });
  $(`${question.field}-slots`).replaceChildren(...lines);
}

function fillSlots(question, values) {
  Object.keys(session.task.shown[question.of]).forEach((slot, at) => fillText($(`${question.field}-${at}`), values[slot] ?? ""));
}

// --- the value of a column in the form's words, beside others: in a line of its question, of two versions, of other people

function fieldLabel(name) {
  const other = { seconds: "Seconds on the screen", saved: "Saved", submitted: "Submitted" };
  const question = questionOf(name);
  return other[name] ?? (question.kind === "flags" ? question.values[name] : question.label);
}

function valueShown(name, value, task) {
  if (name === "saved") return value ? clock(value) : "";
  if (typeof value === "boolean") return value ? "ticked" : "not ticked";
  const { kind, of, values } = questionOf(name) ?? {}; // none: seconds
  if (kind && isBlank(value)) return kind === "text" ? "" : "not answered";
  if (kind === "choice") return values[value];
  if (kind === "scale") return `${value} ${values[value]}`;
  if (kind === "order") return value.map((one) => values[one]).join(" > ");
  if (kind === "slots") return Object.entries(value).map((pair) => pair.join(": ")).join("; ");
  if (kind !== "span") return String(value);
  const text = [...task.shown[of]];
  const marks = value.map(([start, end, label]) => `“${text.slice(start, end).join("")}” (${start}–${end}) ${values[label]}`);
  return `marked ${value.length}: ${marks.join("; ")}`;
}

const FIELDS = {
  choice: { make: (question) => group(question, radios(question, (value) => value)), fill: fillRadios },
  scale: { make: (question) => group(question, radios(question, Number)), fill: fillRadios },
  flags: { make: (question) => group(question, ...Object.entries(question.values).map(([column, words]) => flagBox(question, column, words))) },
  text: { make: textArea, fill: (question, value) => fillText($(question.field), value) },
  number: { make: numberInput, fill: fillNumber },
  span: { make: spanField, draw: drawSpan, fill: fillSpan },
  order: { make: orderField, fill: fillOrder },
  slots: { make: slotsField, draw: drawSlots, fill: fillSlots },
};

// The clock of the task on the screen, and when a pause is proposed. Both count the time of a visible page only.

function clockLine() {
  const { task, waiting, since } = session;
  const now = since === null ? 0 : performance.now() - since;
  const seconds = answerHere().seconds + Math.floor(((waiting[task.id] ?? 0) + now) / 1000);
  const about = data.form.minutes ? ` of about ${data.form.minutes}:00` : "";
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}${about}`;
}

function showClock() {
  if (session.task && session.keeper && !$("view-tasks").hidden) $("clock").textContent = clockLine();
}

function startClock() {
  $("clock-place").hidden = !data.form.clock;
  if (data.form.clock) setInterval(showClock, 1000);
}

function deviation(values) {
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
  return Math.sqrt(values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (values.length - 1));
}

// `seen`: how many tasks were finished when this pause was last taken note of
function isDue(pause, finished, seen) {
  if (pause.every && Math.floor(finished.length / pause.every) > Math.floor(seen / pause.every)) return true;
  const last = finished.slice(-pause.last);
  if (last.length < pause.last || (seen && finished.length < seen + pause.last)) return false;
  const minutes = last.reduce((sum, one) => sum + one.seconds, 0) / last.length / 60;
  if (pause.minutes && minutes > pause.minutes) return true;
  return Boolean(pause.spread) && deviation(last.map((one) => one[pause.spread])) > pause.above;
}

// whether one point more or less on one scale would change the rounded mean
function isBorderline(weights, answer) {
  const mean = weightedMean(weights, answer);
  return Object.keys(weights).some((name) => [-1, 1].some((step) => weightedMean(weights, { ...answer, [name]: answer[name] + step }) !== mean));
}

// own answers to look at again: those on a border first, then the least sure ones, then the latest
function toReview({ mean, sure, least, most }, recent) {
  const borderline = recent.filter((answer) => isBorderline(mean, answer)).length;
  const order = (answer) => [isBorderline(mean, answer) ? 0 : 1, answer[sure], -recent.indexOf(answer)];
  const compared = (one, other) => order(one).map((value, at) => value - order(other)[at]).find(Boolean) ?? 0;
  return [...recent].sort(compared).slice(0, Math.min(most, Math.max(least, borderline)));
}

function linkTo(anchor, words) {
  const link = make("a", "", words);
  link.href = `#${anchor}`;
  return make("li", "", link);
}

function pauseLinks(pause, recent) {
  const sections = pause.read.map((title) => linkTo(`section-${data.sections.indexOf(title) + 1}`, `Read again: ${title}`));
  const answers = pause.review ? toReview(pause.review, recent) : [];
  const tasks = new Map(data.tasks.map((task) => [task.id, task]));
  const scores = (answer) => [...Object.keys(pause.review.mean), pause.review.sure].map((name) => `${fieldLabel(name)} ${answer[name]}`).join(", ");
  return [...sections, ...answers.map((answer) => linkTo(`task-${answer.task}`, `Look again: task ${tasks.get(answer.task).place} (${scores(answer)})`))];
}

function refreshPauses() {
  const finished = [...answers().values()].filter((answer) => statusOf(answer) === "done");
  finished.sort((one, other) => (one.saved < other.saved ? -1 : 1));
  const seen = session.notice.pauses ?? {};
  const at = data.form.pauses.findIndex((pause, number) => isDue(pause, finished, seen[number] ?? 0));
  show($("pause-words"), at === -1 ? "" : data.form.pauses[at].say);
  const pause = data.form.pauses[at];
  const links = pause ? pauseLinks(pause, finished.slice(-(pause.every || pause.last))) : [];
  if (pause && !isDrawn($("pause-links"), [at, finished.length])) $("pause-links").replaceChildren(...links);
  $("pause").hidden = at === -1;
  $("pause-seen").onclick = () => {
    remind({ pauses: { ...seen, [at]: finished.length } });
    $("task-head").focus();
  };
}

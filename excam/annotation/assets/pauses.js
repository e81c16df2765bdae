// The clock of the task on the screen, and when a pause is proposed. Both count the time of a visible page only.

function clockLine() {
  const { task, waiting, since } = session;
  const now = since === null ? 0 : performance.now() - since;
  const seconds = answerHere().seconds + Math.floor(((waiting[task.id] ?? 0) + now) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
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

function refreshPauses() {
  const finished = [...answers().values()].filter((answer) => statusOf(answer) === "done");
  finished.sort((one, other) => (one.saved < other.saved ? -1 : 1));
  const seen = session.notice.pauses ?? {};
  const at = data.form.pauses.findIndex((pause, number) => isDue(pause, finished, seen[number] ?? 0));
  show($("pause-words"), at === -1 ? "" : data.form.pauses[at].say);
  $("pause").hidden = at === -1;
  $("pause-seen").onclick = () => {
    remind({ pauses: { ...seen, [at]: finished.length } });
    $("task-head").focus();
  };
}

// What the browser keeps. Each answer has a key of its own, so that two tabs on two tasks never touch the same value.

function storageKey(annotator, ...rest) {
  return ["excam", data.campaign, annotator, ...rest].join("/");
}

function stored(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null; // refused, or not ours
  }
}

// "" or why it could not be stored
function store(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
    return "";
  } catch (problem) {
    return problem.name === "QuotaExceededError" ? "its storage is full" : `it refuses to store (${problem.name})`;
  }
}

function storedUnder(prefix) {
  try {
    const keys = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at));
    return keys.filter((key) => key.startsWith(prefix)).map((key) => [key.slice(prefix.length), stored(key)]);
  } catch {
    return [];
  }
}

// Keeps answers in this browser. `tell` is called with an answer that another tab saved, or with nothing where only the
// state of saving changed.
class BrowserKeeper {
  constructor(annotator, tell) {
    this.annotator = annotator;
    this.prefix = storageKey(annotator, "answer", "");
    this.tell = tell;
    this.answers = new Map();
    this.unsaved = new Set(); // tasks whose answers are in memory alone
    this.problem = "";
    this.listener = (event) => this.heard(event);
  }

  async load() {
    for (const [task, answer] of storedUnder(this.prefix)) if (this.fits(task, answer)) this.answers.set(task, answer);
    const probe = storageKey(this.annotator, "probe");
    this.problem = store(probe, 1) || store(probe, null);
    window.addEventListener("storage", this.listener);
    return this.answers;
  }

  close() {
    window.removeEventListener("storage", this.listener);
  }

  fits(task, answer) {
    return !answerProblem(answer) && answer.task === task && answer.annotator === this.annotator;
  }

  // the newest of what this tab and the storage know: a change is always made on top of it
  latest(task) {
    const here = this.answers.get(task);
    const there = stored(this.prefix + task);
    return this.fits(task, there) && !(here?.saved >= there.saved) ? there : here;
  }

  keep(answer) {
    this.answers.set(answer.task, answer);
    this.unsaved.add(answer.task);
    this.problem = "";
    for (const task of this.unsaved) {
      const problem = store(this.prefix + task, this.latest(task));
      if (problem) this.problem = problem;
      else this.unsaved.delete(task);
    }
  }

  heard(event) {
    const task = event.key?.startsWith(this.prefix) ? event.key.slice(this.prefix.length) : null;
    if (event.key === null || (task && event.newValue === null)) {
      const gone = task ? [task] : [...this.answers.keys()];
      gone.filter((id) => this.answers.has(id)).forEach((id) => this.unsaved.add(id));
      if (this.unsaved.size) this.problem = "its storage was emptied";
      this.tell();
    } else if (task) {
      const newest = this.latest(task);
      if (newest && newest !== this.answers.get(task)) {
        this.answers.set(task, newest);
        this.tell(newest);
      }
    }
  }

  unsafe() {
    return this.unsaved.size;
  }

  state() {
    const last = [...this.answers.values()].map((answer) => answer.saved).sort().at(-1);
    const line = last ? `Saved in this browser ${clock(last)}` : "Nothing to save yet";
    if (!this.problem) return { line, trouble: "" };
    const trouble = `This browser does not keep your answers: ${this.problem}. They stay here while the page is open. `;
    return { line: `Not saved: ${this.unsaved.size}`, trouble: `${trouble}Export JSON now, and import it after you made room.` };
  }
}

function clock(saved) {
  const time = new Date(saved);
  const today = new Date().toDateString() === time.toDateString();
  return today ? time.toLocaleTimeString("en-GB") : time.toLocaleString("en-GB");
}

// Keeps answers on the server. What is not there yet waits in a queue, which the browser keeps too: closing the page,
// a lost line or a server that is down lose nothing. Of two answers to a task the one that was saved later counts.

const PATIENCE = 20000; // ms for one request
const LONGEST_PAUSE = 30; // s between two tries
const TYPING = 400; // ms: letters typed one after the other are sent together

class ServerKeeper {
  constructor({ api, annotator }, tell) {
    Object.assign(this, { api, annotator, tell });
    this.prefix = storageKey(annotator, "unsent", "");
    this.answers = new Map();
    this.queue = new Map(); // task -> {answer}: what the server does not have, as far as we know
    this.refused = new Map(); // task -> why the server will not have this answer
    this.down = this.gone = this.unkept = "";
    this.pause = 0;
    this.savedAt = "";
    this.sending = false;
  }

  async load() {
    for (const [task, item] of storedUnder(this.prefix)) {
      if (!answerProblem(item?.answer) && item.answer.task === task) this.queue.set(task, item);
    }
    for (let reply = await this.fetchAll(); reply.status !== 200; reply = await this.fetchAll()) {
      this.failed(reply);
      if (this.gone) break;
      await new Promise((done) => setTimeout(done, 1000 * this.longer()));
    }
    for (const [task, item] of this.queue) this.answers.set(task, item.answer);
    this.worked();
    window.addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => this.looked());
    this.hurry();
    return this.answers;
  }

  close() {}

  async fetchAll() {
    const reply = await this.ask("/answers", {});
    for (const { answer } of reply.status === 200 ? reply.body.answers : []) this.met(answer);
    return reply;
  }

  // the server has this answer; sending what waits finds out whether that is still the newest
  met(answer) {
    const { task } = answer;
    if (this.queue.has(task) || this.answers.get(task)?.saved >= answer.saved) return;
    this.answers.set(task, answer);
    this.tell(answer);
  }

  looked() {
    if (document.visibilityState === "hidden") this.hurry();
    else if (!this.sending && !this.gone) this.fetchAll(); // what another tab or machine saved meanwhile
  }

  latest(task) {
    return this.answers.get(task);
  }

  keep(answer) {
    const { task } = answer;
    this.answers.set(task, answer);
    this.refused.delete(task);
    this.queue.set(task, { answer });
    this.unkept = store(this.prefix + task, { answer });
    this.later(this.down ? 1000 * (this.pause || 1) : TYPING);
  }

  later(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), ms);
  }

  hurry() {
    this.later(0);
  }

  longer() {
    this.pause = Math.min(LONGEST_PAUSE, 2 * this.pause || 1);
    return this.pause;
  }

  next() {
    return [...this.queue.keys()].find((task) => !this.refused.has(task));
  }

  async send() {
    if (this.sending || this.gone) return;
    this.sending = true;
    for (let task = this.next(); task; task = this.next()) {
      const item = this.queue.get(task);
      const body = JSON.stringify(ordered(item.answer));
      const reply = await this.ask(`/answers/${task}`, { method: "PUT", body, headers: { "content-type": "application/json" } });
      if (!this.took(task, item, reply)) break;
    }
    this.sending = false;
    this.tell();
  }

  // whether to go on with the next one
  took(task, item, reply) {
    const { status, body } = reply;
    if (status === 200) this.settled(task, item, body.answer);
    else if (status === 400 || status === 413) this.refused.set(task, body.error);
    else {
      this.failed(reply);
      if (status === 500) this.behind(task); // one that the server fails at keeps the others waiting no longer
      if (!this.gone) this.later(1000 * this.longer());
      return false;
    }
    this.worked();
    return true;
  }

  behind(task) {
    const item = this.queue.get(task);
    this.queue.delete(task);
    this.queue.set(task, item);
  }

  // `counts`: the answer that the server has now, ours or a later one
  settled(task, item, counts) {
    this.savedAt = new Date().toISOString();
    if (this.queue.get(task) !== item) return; // changed meanwhile: sent next
    this.queue.delete(task);
    // another tab may wait with an answer of its own under the same key
    const kept = stored(this.prefix + task);
    if (kept && same(kept.answer, item.answer)) store(this.prefix + task, null);
    this.met(counts);
  }

  // {status, body}; status 0 where there was no reply
  async ask(path, options) {
    try {
      const reply = await fetch(this.api + path, { ...options, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
      const text = await reply.text();
      if (text.startsWith("{")) return { status: reply.status, body: JSON.parse(text) };
      const error = reply.ok ? "something else than the server answers" : text.trim().slice(0, 200);
      return { status: reply.ok ? 0 : reply.status, body: { error } };
    } catch {
      return { status: 0, body: { error: "the server does not answer" } };
    }
  }

  failed({ status, body }) {
    if (status === 404) this.gone = "This link does not work any more. Ask for a new one; what is not sent waits in this browser.";
    else this.down = status === 0 ? body.error : `the server says: ${body.error}`;
    this.tell();
  }

  worked() {
    this.down = "";
    this.pause = 0;
    this.tell();
  }

  unsafe() {
    return this.queue.size;
  }

  state() {
    const open = this.queue.size;
    const [first] = this.refused;
    const saved = this.savedAt ? `Saved on the server ${clock(this.savedAt)}` : "Everything is on the server";
    const line = open ? `Not sent yet: ${open}` : saved;
    const trouble = [
      this.gone,
      this.down && `Not sent yet: ${open}; ${this.down}, trying again. ${this.keeping()}`,
      first && `The server refused the answer to task ${first[0]}: ${first[1]}. Change it, or export and tell the organisers.`,
    ];
    return { line, trouble: trouble.filter(Boolean).join(" ") };
  }

  keeping() {
    return this.unkept ? `This browser does not keep them (${this.unkept}): leave the page open, or export.` : "Go on: they are kept in this browser.";
  }
}

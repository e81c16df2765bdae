"""The page and the server together, in a real Chromium: several annotators at once, and kills."""

import random
import signal
from contextlib import ExitStack

import campaigns
import chromium
from annotation_page_driver import READY, answer_by_key
from annotation_server_process import Running, command, made
from campaigns import CHOICES, SOFT

from excam.annotation.answers import is_done
from excam.annotation.store import Store

NAMES = ("ada", "grace", "mary")


def test_three_annotators_at_once_and_a_server_that_is_killed(tmp_path):
    """Every answer chosen is in the store, as chosen; page and store export the same bytes."""
    chromium.skip_without()
    links = made(tmp_path / "answers.store", campaigns.small(), NAMES)
    chance, chosen = random.Random(10), {name: {} for name in NAMES}
    with Running(tmp_path / "answers.store", log=tmp_path / "log") as server, ExitStack() as opened:
        pages = {name: opened.enter_context(chromium.Browser(tmp_path / f"profile-{name}")) for name in NAMES}
        for name, page in pages.items():
            page.open(f"{server.url}{links[name]}#tasks", f"{READY} && session.task")
        for number in range(10):
            if number % 2:  # killed while it is sent what was just answered, and away while the next is
                server.end(signal.SIGKILL)
            for name, page in pages.items():
                task = page.js("session.task.id")
                chosen[name][task] = {field: chance.choice(sorted(values)) for field, values in CHOICES.items()}
                answer_by_key(page, campaigns.blank(task, name, **chosen[name][task]))
                page.key("u", 85)
                if server.process.poll() is not None:
                    server.start()
        for name, page in pages.items():
            page.js("window.dispatchEvent(new Event('online'))")  # now, not after the pause
            page.wait("session.keeper.queue.size === 0")
            assert page.js("document.getElementById('trouble').hidden")
            with Store(server.store) as store:
                answers = {saved.answer.task: saved.answer for saved in store.latest(name)}
            assert {task: {key: answers[task][key] for key in CHOICES} for task in answers} == chosen[name]
            assert len(answers) == 10
            assert all(is_done(SOFT, answer.values) for answer in answers.values())
            exported = tmp_path / f"{name}.json"
            command("export", server.store, "--to", exported, "--annotator", name)
            assert page.js("toJson(answers())") == exported.read_text(encoding="utf-8")

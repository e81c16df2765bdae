"""A tokenizer that is loaded reads what its own file says; one that reads otherwise is refused before it is used."""

import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from random import Random

import pytest
from one_line_errors import line_of
from text_strategies import PIECES
from tiny import CHATML, POISON, make_tokenizer
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

from excam.core.exceptions import ModelInvalid
from excam.inference import Message, chat, tokenizer_files

EMBEDDED = Path(os.environ.get("EXCAM_TEST_MODEL", "results/models/smollm2-135m/files"))

LLAMA3 = (  # the rule that some of Mistral's files have by mistake
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@pytest.fixture
def folder(tmp_path):
    make_tokenizer().save_pretrained(tmp_path)
    return tmp_path


def changed(file, **fields):
    file.touch()
    file.write_text(json.dumps({**json.loads(file.read_text() or "{}"), **fields}))


def mistral(folder, rule, own=tokenizer_files.MISTRAL_MARKER, version="4.48.0"):
    """A tokenizer of bytes and numbers of up to three digits, as large as transformers' correction wants it."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pairs = [f"{a}{b}" for a in "0123456789" for b in "0123456789"]
    words = [*alphabet, *pairs, *(f"never{number}" for number in range(100_001))]
    raw = Tokenizer(models.BPE(vocab={word: at for at, word in enumerate(words)}, merges=list(map(tuple, pairs))))
    split = pre_tokenizers.Split(Regex(rule), "isolated")
    spelled = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    raw.pre_tokenizer = pre_tokenizers.Sequence([split, spelled])
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens([AddedToken(token, special=True) for token in ("<s>", "</s>", own)])
    raw.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "chat_template": CHATML}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text(json.dumps({"model_type": "mistral", "transformers_version": version}))
    return folder


def test_what_only_adds_tokens_or_pads_passes(folder):
    """A sentence encoder's file cuts and pads; a token at the beginning of every text is the template's affair."""
    raw = Tokenizer.from_file(str(folder / "tokenizer.json"))
    raw.enable_truncation(4)
    raw.enable_padding(length=64)
    raw.save(str(folder / "tokenizer.json"))
    changed(folder / "tokenizer_config.json", add_bos_token=True, added_tokens_decoder={})
    assert chat.load_tokenizer(folder).chat_template == CHATML


def test_another_reading_is_refused_in_one_line(folder):
    """The class that tokenizer_config.json names makes a tokenizer of its own from the same vocabulary."""
    changed(folder / "tokenizer_config.json", tokenizer_class="GPT2Tokenizer", add_prefix_space=True)
    line = line_of(ModelInvalid, chat.load_tokenizer, folder)
    assert re.search(r"GPT2Tokenizer reads '.*expected .* as in tokenizer\.json", line)


@pytest.mark.parametrize(
    ("rule", "own", "version", "years"),
    [
        (LLAMA3, "[INST]", "4.48.0", 4),  # put right: digit by digit
        (tokenizer_files.RULE, "[INST]", "4.48.0", 4),
        (LLAMA3, "<|im_start|>", "4.48.0", 3),  # another family's tokenizer in a model of this type: its rule is right
        (LLAMA3, "[INST]", "5.1.0", 3),
    ],
)
def test_the_wrong_rule_of_some_files_of_mistral_is_put_right(tmp_path, rule, own, version, years):
    tokenizer = chat.load_tokenizer(mistral(tmp_path, rule, own, version))
    assert len(tokenizer.encode("1984", add_special_tokens=False)) == years


def test_the_second_tokenizer_of_mistral_is_not_taken(tmp_path):
    """`tekken.json` beside it, in an environment with mistral_common, made one without a chat template."""
    mistral(tmp_path, tokenizer_files.RULE)
    (tmp_path / "tekken.json").write_text("{}")
    assert chat.load_tokenizer(tmp_path).chat_template == CHATML


def test_what_is_no_model_of_mistral_is_left_alone(folder):
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
    assert tokenizer_files.has_wrong_rule(folder) is None


@pytest.fixture(params=["tiny", "embedded"])
def plain(request, folder):
    """A folder of which transformers takes exactly tokenizer.json."""
    if request.param == "tiny":
        (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
        return folder
    if not (EMBEDDED / "tokenizer.json").is_file():
        pytest.skip("no embedded model; set EXCAM_TEST_MODEL")
    return EMBEDDED


def test_ids_without_transformers_are_those_with_it(plain):
    chance = Random(7)
    pieces = (*PIECES, "\ud800", "\0")
    texts = ["".join(chance.choices(pieces, k=chance.randint(0, 14))) for _ in range(400)] + POISON
    texts += [unicodedata.normalize("NFD", text) for text in chat.PROBE_TEXTS]
    slow, quick = chat.load_tokenizer(plain), tokenizer_files.file_tokenizer(plain)
    assert quick is not None
    for text in texts:
        talk = (Message("system", text[:20]), Message("user", text))
        assert chat.encode(quick, talk, text) == chat.encode(slow, talk, text), repr(text)


def test_ids_alone_need_neither_torch_nor_transformers(plain):
    program = (
        "import sys; from pathlib import Path; from excam.inference import Message, chat;"
        "chat.encode(chat.ids_tokenizer(Path(sys.argv[1])), [Message('user', 'tea')], 'green');"
        "print(sorted({'torch', 'transformers'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(plain)], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("file", "fields"),
    [
        ("config.json", {"model_type": "qwen2"}),  # its class normalises Unicode, whatever the file says
        ("tokenizer_config.json", {"tokenizer_class": "GPT2Tokenizer"}),
        ("tokenizer_config.json", {"split_special_tokens": True}),
        ("tokenizer_config.json", {"eos_token": "<|a new one|>"}),
        ("tokenizer_config.json", {"eos_token": {"content": "<s>"}}),
        ("tokenizer_config.json", {"chat_template": [{"name": "default", "template": CHATML}]}),
        ("special_tokens_map.json", {"pad_token": "<pad>"}),
    ],
)
def test_what_transformers_may_change_is_left_to_it(folder, file, fields):
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
    assert tokenizer_files.file_tokenizer(folder) is not None
    changed(folder / file, **fields)
    assert tokenizer_files.file_tokenizer(folder) is None

"""A tokenizer that is loaded reads what its own file says; one that reads otherwise is refused before it is used."""

import json

import pytest
from tiny import CHATML, make_tokenizer
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

from excam.core.exceptions import ModelInvalid
from excam.inference import chat, tokenizer_files

LLAMA3 = (  # the rule that some of Mistral's files have by mistake
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@pytest.fixture
def folder(tmp_path):
    make_tokenizer().save_pretrained(tmp_path)
    return tmp_path


def changed(file, **fields):
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


def mistral(folder, rule, own=tokenizer_files.MISTRAL_MARKER, version="4.48.0"):
    """A tokenizer of bytes and numbers of up to three digits, as large as transformers' correction wants it."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pairs = [f"{a}{b}" for a in "0123456789" for b in "0123456789"]
    words = [*alphabet, *pairs, *(f"never{number}" for number in range(100_001))]
    raw = Tokenizer(
        models.BPE(vocab={word: at for at, word in enumerate(words)}, merges=[tuple(pair) for pair in pairs])
    )
    split = pre_tokenizers.Split(Regex(rule), "isolated")
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
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
    with pytest.raises(ModelInvalid, match=r"GPT2Tokenizer reads '.*expected .* as in tokenizer\.json") as raised:
        chat.load_tokenizer(folder)
    assert "\n" not in str(raised.value)


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

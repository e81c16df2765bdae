"""Texts for property tests: odd pieces of many scripts put together, and any Unicode."""

from hypothesis import strategies as st

PIECES = (
    *("a", "Rice", "B.", "42", "1.5", "don't", "don’t", "e\u0301", "İ", "ﬁ", "Ａ"),
    *("कि", "की", "क्षत्रिय", "العَرَبِيَّة", "שָׁלוֹם", "ภาษาไทย", "日本の花火", "か", "한국", "𠮷", "👩‍👩‍👧", "🇯🇵", "🇫"),
    *("\u0301", "\u200b", "\u200d", "\u200c", "\u202e", "\u2066", "\ufeff", "\u00ad", "\x1f", "\x85", "\u2028"),
    *(" ", "  ", "\t", "\n", "\r\n", "\r", "\n\n", "\u00a0", "\u3000"),
    *(*".!?？。;:,…-–*_`#|\\~$@", "**", "```"),
    *('"', "'", "“", "”", "«", "(", ")", "[", "]", "{", "}", "<", ">", "&", "&lt;", "=", "====", "+", "/", "%", "^"),
    *("[DISH]", "{question}", "{{name}}", "{text}", "\\1", "%s", "$1", "</script>", "<!--", "=1+1", "<|im_end|>"),
    *('{"answer": "A"}', '{"valid": true}', '{"score": 3}', '{"claims": []}', "VERDICT: supported", "RATING: 4", "A"),
    *("True", "</think>", "<think>", "null", "Answer: ", "Dr. ", "z. B. ", "1. ", "- "),
)
SPELLED = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
# What a file can hold, and what a model's answer may hold: a lone surrogate, once its JSON escapes are read.
TEXTS = SPELLED | st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
ANSWERS = TEXTS | st.text(max_size=40) | st.lists(st.sampled_from((*PIECES, "\ud800", "\0")), max_size=14).map("".join)

"""Says which sentences Lark takes under each of some grammars.

Reads {"grammars": [{"grammar": text, "parsers": [name], "sentences": [text]}]}
and writes {"version": text, "verdicts": [{parser: {"loaded": seconds, "took": seconds, "error": text,
"accepts": [bool]}}]}: an error is a grammar that Lark does not read.
"""

import json
import sys
import time

import lark


def verdict(grammar, parser, sentences):
    begun = time.monotonic()
    try:
        reader = lark.Lark(grammar, parser=parser, start="start", lexer="contextual" if parser == "lalr" else "dynamic")
    except Exception as e:
        return {"loaded": time.monotonic() - begun, "took": 0, "error": f"{type(e).__name__}: {e}"[:4000], "accepts": []}
    loaded = time.monotonic()
    accepts = []
    for sentence in sentences:
        try:
            reader.parse(sentence)
            accepts.append(True)
        except lark.exceptions.UnexpectedInput:
            accepts.append(False)
    return {"loaded": loaded - begun, "took": time.monotonic() - loaded, "error": "", "accepts": accepts}


asked = json.load(sys.stdin)
json.dump(
    {
        "version": lark.__version__,
        "verdicts": [{p: verdict(g["grammar"], p, g["sentences"]) for p in g["parsers"]} for g in asked["grammars"]],
    },
    sys.stdout,
)

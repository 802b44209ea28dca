// Says which sentences llama.cpp takes under each of some grammars: the prebuilt
// addon of node-llama-cpp, whose path is the first argument, holds llama.cpp's
// own reader of GBNF, and needs no model for this.
//
// Reads {"grammars": [{"grammar": text, "sentences": [text]}]} and writes
// {"version": text, "verdicts": [{"llama.cpp": {"loaded": seconds, "took":
// seconds, "error": text, "accepts": [bool]}}]}.
import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const path = process.argv[2];
const addon = createRequire(import.meta.url)(path);
const built = JSON.parse(readFileSync(join(dirname(path), "_nlcBuildMetadata.json"), "utf8"));

function verdict(grammar, sentences) {
  const begun = performance.now();
  let reader;
  try {
    reader = new addon.AddonGrammar(grammar, { rootRuleName: "root" });
  } catch (e) {
    return { loaded: 0, took: 0, error: String(e), accepts: [] };
  }
  const loaded = performance.now();
  const accepts = sentences.map((s) => reader.isTextCompatible(s));
  return { loaded: (loaded - begun) / 1000, took: (performance.now() - loaded) / 1000, error: "", accepts };
}

const asked = JSON.parse(readFileSync(0, "utf8"));
const answer = {
  version: built.buildOptions.llamaCpp.release,
  verdicts: asked.grammars.map((g) => ({ "llama.cpp": verdict(g.grammar, g.sentences) })),
};
writeSync(1, JSON.stringify(answer));

#!/usr/bin/env bash
# A grammar in GBNF that llama.cpp reads means something else to xgrammar, with which vLLM holds models.
#
# Guess: GBNF is one format; what differs is refused when it is read.
# Found: xgrammar 0.1.27 reads all of these but the first, and takes other texts than llama.cpp does:
#   [\x2D0-9]         is refused: every hexadecimal digit after \x belongs to it (C's rule; llama.cpp has two)
#   "Üb"              is taken by no text once compiled: characters of Latin-1 are bytes
#   [à-ÿ]             takes none of them: a class is cut to bytes (issue 138, 2024-12-29)
#   ("19"|"20") ("04"|"96") | "2000"   takes 1900
#   (a|b){500}((a|b){500}((a|b){0,500}))  takes minutes; nested is what llama.cpp needs beyond 2,000
# Here: Grammar.XGrammar is a form of its own, which the tests put to both; numbers are written \u002D.
# Needs: node 20, npm, linux on x64.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"; echo '{"private":true}' >package.json
npm install --no-audit --no-fund --ignore-scripts --loglevel=error @mlc-ai/web-xgrammar@0.1.27 @node-llama-cpp/linux-x64@3.22.1 >/dev/null
cat >look.cjs <<'JS'
const fs = require('fs'), path = require('path'), Module = require('module');
const llama = require('./node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/llama-addon.node');
const file = path.resolve('node_modules/@mlc-ai/web-xgrammar/lib/index.js');
const say = console.log; console.log = console.error = console.warn = () => {};
async function xgrammar() {
  const m = new Module(file); m.require = Module.createRequire(file); m.filename = file; m._compile(fs.readFileSync(file, 'utf8'), file);
  return m.exports;
}
(async () => {
  for (const [g, texts] of [['[\\x2D0-9]', ['-', '7']], ['"Üb"', ['Üb']], ['[à-ÿ]', ['é']], ['[^\\u0000-\\u007F]', ['é']], ['[\\u002D0-9]', ['-', '7']],
      ['("19" | "20") ("04" | "96") | "2000"', ['1900', '1904', '2000']]]) {
    const theirs = new llama.AddonGrammar('root ::= ' + g, { rootRuleName: 'root' });
    const x = await xgrammar();
    let read;
    try {
      const compiler = await x.GrammarCompiler.createGrammarCompiler(await x.TokenizerInfo.createTokenizerInfo(['<end>', 'a'], 'raw', false, 2, [0]));
      read = await x.GrammarMatcher.createGrammarMatcher(await compiler.compileGrammar('root ::= ' + g), undefined, true);
    } catch { read = null; }
    for (const t of texts) {
      say(g, t, 'llama.cpp', theirs.isTextCompatible(t), 'xgrammar', read ? read._acceptString(t) && read.isTerminated() : 'refused');
      if (read) read.reset();
    }
  }
})();
JS
node look.cjs | tee got
cat >want <<'TXT'
[\x2D0-9] - llama.cpp true xgrammar refused
[\x2D0-9] 7 llama.cpp true xgrammar refused
"Üb" Üb llama.cpp true xgrammar false
[à-ÿ] é llama.cpp true xgrammar false
[^\u0000-\u007F] é llama.cpp true xgrammar true
[\u002D0-9] - llama.cpp true xgrammar true
[\u002D0-9] 7 llama.cpp true xgrammar true
("19" | "20") ("04" | "96") | "2000" 1900 llama.cpp false xgrammar true
("19" | "20") ("04" | "96") | "2000" 1904 llama.cpp true xgrammar true
("19" | "20") ("04" | "96") | "2000" 2000 llama.cpp true xgrammar true
TXT
diff want got && echo "as found: xgrammar 0.1.27, llama.cpp of @node-llama-cpp 3.22.1, node $(node --version)"

// Points the built program at each behaviour of cases.jsonl and cases-2.jsonl, and judges what came of it.
//
//   VERBATIM=/path/to/verbatim CLIENT_DATA=/path/to/examples/client node run.mjs [NAME...]
//
// VERBATIM_PALETTES is `bank` unless it is set. With JUDGED=FILE, the table is written there
// too; with KEEP=DIR, what the program printed is kept there, a file a case. With CHECK=1,
// `verbatim model check` is asked about each behaviour that was judged wrong, and what it says
// is added; it changes no verdict.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { serve, plays, NOTE } from './server.mjs'
import './server-2.mjs'

const here = path.dirname(fileURLToPath(import.meta.url))
const program = process.env.VERBATIM
if (!program) { console.error('VERBATIM names the built program'); process.exit(2) }
const data = process.env.CLIENT_DATA ?? path.join(here, '../../../../examples/client')
const LIMIT = 30_000 // milliseconds that a conversation may take
const SAID = 'Give me the open points in one go, I am on the train.\n' +
  `Put a note on the source of wealth request of Pierre Dupont: ${NOTE}\n`

const cases = ['cases.jsonl', 'cases-2.jsonl'].flatMap(f => fs.readFileSync(path.join(here, f), 'utf8').trim().split('\n').map(l => JSON.parse(l)))
const control = { name: 'control', provider: 'none', model: 'gpt-4o', base: '/v1', expected: 'works' }
const wanted = process.argv.slice(2)
const all = [control, ...cases].filter(c => !wanted.length || wanted.includes(c.name))
for (const c of all) if (!plays[c.name]) { console.error('no behaviour is called ' + c.name); process.exit(2) }

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'providers-'))
const env = {
  PATH: process.env.PATH,
  HOME: dir,
  TZ: 'UTC',
  VERBATIM_PALETTES: process.env.VERBATIM_PALETTES ?? 'bank',
  VERBATIM_SCAN: 'none',
  VERBATIM_MODEL_KEY: 'sk-not-a-key'
}

function run (args, input = '') {
  return new Promise(resolve => {
    const started = Date.now()
    const p = spawn(program, args, { env, cwd: dir })
    let out = ''; let err = ''; let late = false
    p.stdout.on('data', d => { out += d })
    p.stderr.on('data', d => { err += d })
    const timer = setTimeout(() => { late = true; p.kill('SIGKILL') }, LIMIT)
    p.on('close', code => { clearTimeout(timer); resolve({ code, out, err, late, ms: Date.now() - started }) })
    p.stdin.on('error', () => {})
    p.stdin.end(input)
  })
}

// One line: what was judged, and why.
function judge (c, ran, journal, log) {
  const adds = journal.split('\n').filter(l => /\tok\tclient\.add-note /.test(l))
  const noted = adds.filter(l => l.includes('@pierre-dupont-source-of-wealth') && l.endsWith(`:note "${NOTE}"`))
  const said = log.flatMap(l => l.said ?? [])
  const lines = [...new Set(ran.err.split('\n').map(l => l.trim()).filter(Boolean))]
  if (ran.late) return ['wrong', `it had not ended after ${LIMIT / 1000} seconds`]
  if (ran.code !== 0) return ['wrong', `it ended with ${ran.code}`]
  if (adds.length > 1) return ['wrong', `${adds.length} notes were stored`]
  if (adds.length > noted.length) return ['wrong', 'the note has other words than the person’s: ' + adds[0]]
  if (/<think>|<tool_call>|<\|channel|<!DOCTYPE/i.test(ran.out)) return ['wrong', 'the person is told what is the model’s own business']

  const answers = ran.out.split(/^(?=Assistant: )/m)
  const read = /Thomas Müller, identity, due on/.test(answers[0] ?? '') && said.includes('reply.tell')
  const left = noted.length === 1 && /Noted for Pierre Dupont/.test(answers[1] ?? '') && said.includes('client.add-note')
  const alone = /I cannot chat just now/.test(ran.out)
  if (read && left && !alone) {
    // A refusal that was got around is to be told, unless waiting was all that helped.
    const refused = log.filter(l => l.refused && !c.wait && ![429, 503].includes(l.status) && l.status >= 400)
    if (refused.length && !lines.length) return ['wrong', 'it works, and nobody is told what was changed: ' + refused[0].refused]
    if (c.expected === 'sentence') return ['right', 'works, where a sentence was expected']
    return ['right', lines.length ? 'told once: ' + lines.join(' / ') : '']
  }

  const cause = new RegExp(c.cause ?? '(?!)', 'i'); const remedy = new RegExp(c.remedy ?? '(?!)', 'i')
  const about = lines.filter(l => cause.test(l))
  const clear = about.filter(l => remedy.test(l))
  const stood = read ? 'the read was answered, the note was not left' : left ? 'the note was left, the read was not answered' : 'neither was done'
  if (!lines.length) return ['wrong', `silent: ${stood}, and the operator is told nothing`]
  if (c.expected === 'works') return ['wrong', `${stood}; it says: ${lines.join(' / ')}`]
  if (clear.length === 1 && about.length === 1) {
    if (clear[0].length > 500) return ['wrong', `the sentence has ${clear[0].length} characters`]
    if (c.most && log.length > c.most) return ['wrong', `the endpoint was asked ${log.length} times before it was said`]
    return ['sentence', clear[0]]
  }
  if (about.length > 1) return ['wrong', `${about.length} sentences: ${about.join(' / ')}`]
  if (about.length === 1) return ['wrong', `it says what, and not what to change: ${about[0]}`]
  return ['wrong', `what it says is not what is wrong: ${lines.join(' / ')}`]
}

// What `verbatim model check --json` says is refused, and what it changed.
function told (json) {
  try {
    const { answers, adapted } = JSON.parse(json)
    const said = answers.filter(a => a.outcome === 'refused').map(a => a.says)
    return [...new Set([...said, ...adapted.map(a => `${a.parameter}: ${a.change}`)])].join(' / ') || 'nothing is refused'
  } catch { return 'no document: ' + json.trim().slice(0, 200) }
}

const { server, state, forget, port } = await serve()
const base = path.join(dir, 'base.db')
const made = await run(['migrate', '--store', base, '--data', path.join(data, 'bank.sql'), '--data', path.join(data, 'people.sql')])
if (made.code !== 0) { console.error(made.out + made.err); process.exit(2) }

const results = new Map()
const queue = [...all]
const started = Date.now()
async function work () {
  for (let c; (c = queue.shift());) {
    const store = path.join(dir, c.name + '.db')
    fs.copyFileSync(base, store)
    const args = ['chat', '--store', store, '--as', 'clara', '--model', c.model, '--base-url', `http://127.0.0.1:${port}/${c.name}${c.base}`]
    if (c.mode) args.push('--mode', c.mode)
    const ran = await run(args, SAID)
    const journal = (await run(['log', 'show', '--store', store, '--as', 'd.lang'])).out
    const { log } = state(c.name)
    const [verdict, why] = judge(c, ran, journal, log)
    const result = { verdict, why, asked: log.length }
    if (process.env.CHECK && verdict === 'wrong') {
      forget(c.name)
      result.check = told((await run(['model', 'check', '--json', ...args.slice(5, 9)])).out)
    }
    results.set(c.name, result)
    if (process.env.KEEP) {
      fs.mkdirSync(process.env.KEEP, { recursive: true })
      fs.writeFileSync(path.join(process.env.KEEP, c.name + '.txt'), `${verdict}: ${why}\n\n-- out\n${ran.out}\n-- err\n${ran.err}\n-- journal\n${journal}\n-- log\n${log.map(l => JSON.stringify(l)).join('\n')}\n`)
    }
  }
}
await Promise.all([work(), work(), work()])
server.close()
fs.rmSync(dir, { recursive: true, force: true })

const table = []
const count = { right: 0, sentence: 0, wrong: 0 }
for (const c of all) {
  const { verdict, why, asked, check } = results.get(c.name)
  if (c !== control) count[verdict]++
  table.push(`${verdict.padEnd(9)} ${c.name.padEnd(28)} ${String(asked).padStart(2)} asked${why ? '  ' + why : ''}`)
  if (check) table.push(' '.repeat(10) + 'model check says: ' + check)
}
table.push(`${count.right} right, ${count.sentence} one sentence, ${count.wrong} wrong, of ${all.filter(c => c !== control).length}`)
console.log(table.join('\n'))
console.error(`${((Date.now() - started) / 1000).toFixed(1)} s`)
if (process.env.JUDGED) fs.writeFileSync(process.env.JUDGED, table.join('\n') + '\n')
process.exit(count.wrong || results.get('control')?.verdict === 'wrong' ? 1 : 0)

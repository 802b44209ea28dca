// What a reading call costs with guard before the server: the official client calls a tool of
// server-filesystem directly and through guard, in turns, and prints medians, processor and memory.
//	node cmd/internal/bench/guard.mjs JUDGES VERBATIM [CALLS]
import { pathToFileURL } from 'node:url'
import { readFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [judges, verbatim, calls = '2000'] = process.argv.slice(2)
const sdk = (name) => import(pathToFileURL(`${judges}/node_modules/@modelcontextprotocol/sdk/dist/esm/${name}.js`))
const { Client } = await sdk('client/index')
const { StdioClientTransport } = await sdk('client/stdio')
const { ElicitRequestSchema } = await sdk('types')
const server = `${judges}/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js`
const dir = mkdtempSync(join(tmpdir(), 'guard-bench-'))
const connect = async (line) => {
  const client = new Client({ name: 'bench', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { agree: true } }))
  const transport = new StdioClientTransport({ command: line[0], args: line.slice(1), env: { ...process.env, XDG_STATE_HOME: dir }, stderr: 'ignore' })
  await client.connect(transport)
  return Object.assign(client, { pid: transport.pid })
}
const first = { direct: [], guarded: [] }
for (let i = 0; i < 10; i++) {
  for (const [name, line] of Object.entries({ direct: ['node', server, dir], guarded: [verbatim, 'guard', '--', 'node', server, dir] })) {
    const began = performance.now()
    const client = await connect(line)
    await client.callTool({ name: 'list_allowed_directories', arguments: {} })
    first[name].push(performance.now() - began)
    await client.close()
  }
}
const middle = (a) => a.sort((x, y) => x - y)[a.length >> 1]
console.log(`start and first call: direct ${middle(first.direct).toFixed(0)} ms, guarded ${middle(first.guarded).toFixed(0)} ms`)
const ways = { direct: await connect(['node', server, dir]), guarded: await connect([verbatim, 'guard', '--', 'node', server, dir]) }
const proc = (pid, file) => readFileSync(`/proc/${pid}/${file}`, 'utf8')
const cpu = (pid) => { const f = proc(pid, 'stat').split(') ')[1].split(' '); return (Number(f[11]) + Number(f[12])) * 10 } // ms, at 100 ticks a second
const measure = async (what, n, call) => {
  const took = { direct: [], guarded: [] }
  for (let i = -50; i < n; i++) {
    if (i === 0) took.cpu = cpu(ways.guarded.pid)
    for (const [name, client] of Object.entries(ways)) {
      const began = performance.now()
      const r = await client.callTool(call(i))
      if (r.isError) throw new Error(JSON.stringify(r))
      if (i >= 0) took[name].push(performance.now() - began)
    }
  }
  console.log(`${what}: direct ${middle(took.direct).toFixed(2)} ms, guarded ${middle(took.guarded).toFixed(2)} ms, added ${(middle(took.guarded) - middle(took.direct)).toFixed(2)} ms, processor of guard ${((cpu(ways.guarded.pid) - took.cpu) / n).toFixed(2)} ms`)
}
await measure('a call that reads', Number(calls), () => ({ name: 'list_allowed_directories', arguments: {} }))
await measure('a call that acts, agreed to by the client', Number(calls) / 10, (i) => ({ name: 'write_file', arguments: { path: `${dir}/a.txt`, content: `${i}` } }))
console.log(`anonymous memory of guard ${(Number(/RssAnon:\s+(\d+)/.exec(proc(ways.guarded.pid, 'status'))[1]) / 1024).toFixed(1)} MB`)
for (const client of Object.values(ways)) await client.close()

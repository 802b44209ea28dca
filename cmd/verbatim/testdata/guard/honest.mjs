// The client of @modelcontextprotocol/sdk uses three servers of the same makers, each by one line,
// directly and with guard before it, and tells what differs. ANSWER says what its person answers.
import { pathToFileURL } from 'node:url'
import { mkdirSync, writeFileSync, readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'

const [judges, verbatim, dir] = process.argv.slice(2)
const sdk = (name) => import(pathToFileURL(`${judges}/node_modules/@modelcontextprotocol/sdk/dist/esm/${name}.js`))
const { Client } = await sdk('client/index')
const { StdioClientTransport } = await sdk('client/stdio')
const { ElicitRequestSchema } = await sdk('types')
const server = (name) => `${judges}/node_modules/@modelcontextprotocol/server-${name}/dist/index.js`

const asked = []
const connect = async (guarded, args, env = {}) => {
  const client = new Client({ name: 'honest', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async (request) => {
    asked.push(request.params.message)
    return { action: 'accept', content: { agree: true } }
  })
  const line = guarded ? [verbatim, 'guard', '--', 'node', ...args] : ['node', ...args]
  await client.connect(new StdioClientTransport({ command: line[0], args: line.slice(1), env: { ...process.env, ...env }, stderr: 'ignore' }))
  return client
}
const questions = () => asked.splice(0).map((q) => q.split('\n')[0]).join(' | ') || 'none'
const same = (a, b) => (JSON.stringify(a) === JSON.stringify(b) ? 'same' : `DIFFERENT\n${JSON.stringify(a)}\n${JSON.stringify(b)}`)

const notes = `${dir}/notes`
mkdirSync(notes)
const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
writeFileSync(`${notes}/dot.png`, picture)
writeFileSync(`${notes}/a.txt`, 'line one\nline two\n')

{
  const plain = await connect(false, [server('filesystem'), notes])
  const client = await connect(true, [server('filesystem'), notes])
  console.log('filesystem:')
  console.log(`  tools ${same(await plain.listTools(), await client.listTools())}`)
  console.log(`  who it is ${same(plain.getServerVersion(), client.getServerVersion())}`)
  const read = { name: 'read_text_file', arguments: { path: `${notes}/a.txt` } }
  console.log(`  reading ${same(await plain.callTool(read), await client.callTool(read))}, asked: ${questions()}`)
  console.log(`  reading again ${same(await plain.callTool(read), await client.callTool(read))}, asked: ${questions()}`)
  const media = await client.callTool({ name: 'read_media_file', arguments: { path: `${notes}/dot.png` } })
  const came = media.content.find((c) => c.type === 'image' || c.type === 'resource' || c.data)
  console.log(`  picture ${Buffer.from(came.data ?? came.resource?.blob, 'base64').equals(picture) ? 'same to the byte' : 'DIFFERENT'}, asked: ${questions()}`)
  const write = { name: 'write_file', arguments: { path: `${notes}/b.txt`, content: 'hello' } }
  await client.callTool(write)
  console.log(`  writing, asked: ${questions()}; it holds ${readFileSync(`${notes}/b.txt`)}`)
  const edit = await client.callTool({ name: 'edit_file', arguments: { path: `${notes}/a.txt`, edits: [{ oldText: 'line two', newText: 'line 2' }] } })
  console.log(`  editing ${edit.isError ? 'FAILED' : 'done'}, the difference is ${asked[0].includes('- line two\n+ line 2') ? 'shown' : 'NOT shown'}`)
  asked.splice(0)
  await plain.close()
  await client.close()
}
{
  const client = await connect(true, [server('memory')], { MEMORY_FILE_PATH: `${dir}/memory.json` })
  const begin = await client.callTool({ name: 'create_entities', arguments: { entities: [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] }] } })
  console.log(`memory: begin ${begin.isError ? 'FAILED' : 'done'}, asked: ${questions()}`)
  const on = await client.callTool({ name: 'search_nodes', arguments: { query: 'tea' } })
  console.log(`  go on ${on.content[0].text.includes('Ann') ? 'knows her' : 'FORGOT'}, asked: ${questions()}`)
  await client.close()
}
{
  const plain = await connect(false, [server('everything')])
  const client = await connect(true, [server('everything')])
  // It offers other tools to a client with sampling and roots; neither of the two has them.
  const names = async (c) => (await c.listTools()).tools.map((t) => t.name).sort()
  console.log(`everything: tools ${same(await names(plain), await names(client))}`)
  console.log(`  resources ${same((await plain.listResources()).resources.length, (await client.listResources()).resources.length)}, prompts ${same(await plain.listPrompts(), await client.listPrompts())}`)
  const first = (await client.listResources()).resources[0]
  const read = async (c) => { const r = (await c.readResource({ uri: first.uri })).contents[0]; return r.blob ? r.blob.length : r.text.length }
  console.log(`  a resource ${same(await read(plain), await read(client))}`)
  const image = { name: 'get-tiny-image', arguments: {} }
  const sum = (r) => r.content.map((c) => c.type + (c.data ? createHash('sha256').update(c.data).digest('hex') : c.text))
  console.log(`  picture ${same(sum(await plain.callTool(image)), sum(await client.callTool(image)))}`)
  const progress = []
  const slow = await client.callTool({ name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 4 } }, undefined, { onprogress: (p) => progress.push(p.progress) })
  console.log(`  progress ${progress.slice(0, 3).join(' ')} ${slow.isError ? 'FAILED' : 'done'}`)
  const halt = new AbortController()
  setTimeout(() => halt.abort(), 300)
  const stopped = await client.callTool({ name: 'trigger-long-running-operation', arguments: { duration: 20, steps: 2 } }, undefined, { signal: halt.signal }).then(() => 'NOT cancelled', () => 'cancelled')
  console.log(`  ${stopped}, and goes on: ${(await client.callTool({ name: 'echo', arguments: { message: 'still here' } })).content[0].text}`)
  await plain.close()
  await client.close()
}

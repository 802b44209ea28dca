// The client of @modelcontextprotocol/sdk plays the portal's morning: it looks, leaves a note,
// tries what a model may not say, is asked, and hands over to a person. It tells what came of it.
import { pathToFileURL } from 'node:url'

const [judges, to] = process.argv.slice(2)
const sdk = (name) => import(pathToFileURL(`${judges}/node_modules/@modelcontextprotocol/sdk/dist/esm/${name}.js`))
const { Client } = await sdk('client/index')
const { ElicitRequestSchema } = await sdk('types')

const client = new Client({ name: 'morning', version: '1' }, { capabilities: { elicitation: {} } })
let answer = { action: 'accept', content: { agree: true } }
client.setRequestHandler(ElicitRequestSchema, async (request) => {
  console.log(`asked: ${request.params.message.split('\n')[0]} (${Object.keys(request.params.requestedSchema.properties)})`)
  return answer
})
if (to.startsWith('http')) {
  const { StreamableHTTPClientTransport } = await sdk('client/streamableHttp')
  await client.connect(new StreamableHTTPClientTransport(new URL(to)))
} else {
  const { StdioClientTransport } = await sdk('client/stdio')
  await client.connect(new StdioClientTransport({ command: to, args: ['mcp', '--as', 'clara'], cwd: process.env.HOUSE, env: process.env, stderr: 'inherit' }))
}

const call = async (name, args = {}, more = {}) => {
  const result = await client.callTool({ name, arguments: args, ...more })
  const doc = result.structuredContent
  const row = doc.preview?.calls[0]?.rows[0]
  const table = doc.preview?.calls[0]?.result
  console.log(`${name}: ${doc.outcome}${doc.code ? ` ${doc.code}` : ''}${doc.repeated ? ' repeated' : ''}${row ? ` ${row.op} ${row.name || 'new'}` : ''}${table ? ` ${table.rows.length} x ${table.columns.length}` : ''}`)
  if (result.isError) console.log(`  ${result.content[0].text.split('\n')[0].replace(/; clara.*/i, '')}`)
  return doc
}

console.log(`server ${client.getServerVersion().name} ${Object.keys(client.getServerCapabilities()).sort()}`)
const { tools } = await client.listTools()
console.log(`tools ${tools.length}, ${tools.filter((t) => t.annotations.readOnlyHint).length} only read`)
await client.ping()
await call('client__get-status')
const open = await call('client__get-outstanding')
const at = open.preview.calls[0].result.columns.indexOf('request_id')
const name = open.preview.calls[0].result.rows.map((row) => row[at]).find((n) => n.includes('dupont'))
console.log(`the request is ${name}`)
await call('client__get-request-detail', { 'request-id': name })
await call('client__add-note', { 'request-id': name, note: 'Still waiting on our accountant.', 'expected-date': '2027-02-30' })
await call('client__add-note', { 'request-id': name, notes: 'Still waiting on our accountant.' })
const once = { _meta: { 'verbatim/idempotency-key': 'morning' } }
await call('client__add-note', { 'request-id': name, note: 'Still waiting on our accountant.' }, once)
await call('client__add-note', { 'request-id': name, note: 'Still waiting on our accountant.' }, once)
const wrong = await call('client__add-note', { 'request-id': name, note: 'That was for somebody else.' })
await call('undo', { entry: wrong.preview.calls[0].undo.entry })
await call('undo', { entry: wrong.preview.calls[0].undo.entry })
await call('client__name-repayment-account', { 'cbu-id': '@allianz-reinsurance-ag', iban: 'LU280019400644750000' })
await call('review__accept', { 'request-id': name })
answer = { action: 'decline' }
await call('client__escalate', { reason: 'This takes too long.' })
answer = { action: 'accept', content: { agree: true } }
await call('client__escalate', { reason: 'This takes too long.' })
const completed = await client.complete({ ref: { type: 'ref/prompt', name: 'client' }, argument: { name: 'about', value: 'pierre' } })
console.log(`completed ${completed.completion.values}`)
const prompt = await client.getPrompt({ name: 'client', arguments: { wish: 'How far are we?' } })
console.log(`prompt of ${prompt.messages.length} messages, ${prompt.messages.at(-1).content.text}`)
const { resources } = await client.listResources()
const read = await client.readResource({ uri: resources[0].uri })
console.log(`${resources[0].uri} begins ${read.contents[0].text.split('\n')[0].replace(/\s+/g, ' ')}`)
await client.close()

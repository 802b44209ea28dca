// The client of @a2a-js/sdk gives tasks to a server, by both bindings, and says what came of
// it. What the clerk does meanwhile it asks for on a line, and waits until that is done.
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [judges, url] = process.argv.slice(2)
const sdk = (name) => import(pathToFileURL(`${judges}/node_modules/@a2a-js/sdk/dist/${name}/index.js`))
const { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory, DefaultAgentCardResolver, createAuthenticatingFetchWithRetry } = await sdk('client')
const { TaskState, Role } = await import(pathToFileURL(`${judges}/node_modules/@a2a-js/sdk/dist/index.js`))

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const clerk = async (script) => {
  console.log(`clerk ${script}`)
  await lines.next()
}
const as = (who) => createAuthenticatingFetchWithRetry(fetch, { headers: async () => ({ Authorization: `Bearer ${who}` }), shouldRetryWithHeaders: async () => undefined })
const part = (content) => ({ content: typeof content === 'string' ? { $case: 'text', value: content } : { $case: 'data', value: content }, metadata: undefined, filename: '', mediaType: '' })
let sent = 0
const message = (content, more = {}) => ({
  tenant: '', metadata: undefined,
  message: { messageId: `${more.name ?? 'js'}-${++sent}`, contextId: '', taskId: more.taskId ?? '', role: Role.ROLE_USER, parts: [part(content)], metadata: undefined, extensions: [], referenceTaskIds: [] },
  configuration: { acceptedOutputModes: more.modes ?? ['application/json'], taskPushNotificationConfig: more.push, historyLength: undefined, returnImmediately: more.now ?? false },
})
const state = (task) => TaskState[task.status.state].replace('TASK_STATE_', '')
const fails = async (what, doing) => {
  try {
    await doing()
    console.log(`${what}: nothing is wrong`)
  } catch (err) {
    console.log(`${what}: ${err.name.replace(/^(JsonRpc|Rest)(?=\w+Error)/, '')}`)
  }
}

const card = await new DefaultAgentCardResolver().resolve(url)
console.log(`card ${card.name} ${card.skills.map((s) => s.id).join(' ')} ${card.capabilities.streaming} ${card.capabilities.pushNotifications}`)

for (const [name, Transport] of [['JSONRPC', JsonRpcTransportFactory], ['HTTP+JSON', RestTransportFactory]]) {
  const client = async (who) => await new ClientFactory({ transports: [new Transport({ fetchImpl: as(who) })], preferredTransports: [name], cardResolver: new DefaultAgentCardResolver() }).createFromUrl(url)
  const acme = await client('acme')
  console.log(name, (await acme.getAgentCard()).skills.length)

  // A task that the desk asks back about, and solves.
  const begun = await acme.sendMessage(message({ skill: 'desk.report', arguments: { text: `Printer ${name}` } }, { now: true, name }))
  console.log('sent', state(begun), begun.artifacts[0].parts[0].content.value.subject)
  await clerk(`desk.ask :ticket-id @${begun.id} :text "Which one?"`)
  const asked = await acme.getTask({ tenant: '', id: begun.id })
  console.log('asked', state(asked), asked.status.message.parts[0].content.value)
  const answered = await acme.sendMessage(message('The one upstairs', { taskId: begun.id, now: true, name }))
  console.log('answered', state(answered), answered.history.length)

  // A stream is cut, and taken up again.
  const streamed = acme.sendMessageStream(message('The lamp flickers', { name }))
  const first = (await streamed.next()).value.payload
  console.log('streamed', first.$case, state(first.value))
  await streamed.return()
  const again = acme.resubscribeTask({ tenant: '', id: first.value.id })
  console.log('again', (await again.next()).value.payload.$case)
  await clerk(`desk.solve :ticket-id @${first.value.id} :text "It shines"`)
  for await (const event of again) {
    const p = event.payload
    console.log('event', p.$case, p.$case === 'statusUpdate' ? state(p.value) : p.value.artifact.parts[0].content.value.remark)
  }

  const canceled = await acme.cancelTask({ tenant: '', id: begun.id, metadata: undefined })
  console.log('canceled', state(canceled))
  const list = await acme.listTasks({ tenant: '', contextId: '', status: TaskState.TASK_STATE_CANCELED, pageSize: 10, pageToken: '', statusTimestampAfter: undefined })
  console.log('listed', list.tasks.length >= 1, list.totalSize >= 1)
  const reply = await acme.sendMessage(message({ verb: 'desk.tickets' }, { name }))
  console.log('replied', Role[reply.role])

  // Where it is told of a task.
  const open = await acme.sendMessage(message('The door', { now: true, name }))
  const config = { tenant: '', id: 'here', taskId: open.id, url: 'https://acme.example/in', token: 't', authentication: undefined }
  console.log('told at', (await acme.createTaskPushNotificationConfig(config)).id, (await acme.listTaskPushNotificationConfig({ tenant: '', taskId: open.id, pageSize: 0, pageToken: '' })).configs.length,
    (await acme.getTaskPushNotificationConfig({ tenant: '', taskId: open.id, id: 'here' })).url)
  await acme.deleteTaskPushNotificationConfig({ tenant: '', taskId: open.id, id: 'here' })

  const other = await client('other')
  await fails('of somebody else', () => other.getTask({ tenant: '', id: begun.id }))
  await fails('canceled twice', () => acme.cancelTask({ tenant: '', id: begun.id, metadata: undefined }))
  await fails('of a task that ended', async () => { for await (const _ of acme.resubscribeTask({ tenant: '', id: begun.id })); })
  await fails('no such modes', () => acme.sendMessage(message('x', { modes: ['image/png'], name })))
  await fails('no such arguments', () => acme.sendMessage(message({ arguments: { color: 'red' } }, { name })))
  await fails('another version', () => acme.transport.getTask({ tenant: '', id: begun.id }, { serviceParameters: { 'A2A-Version': '0.3' } }))
  await fails('nobody', async () => (await client('nobody')).getTask({ tenant: '', id: begun.id }))
}
process.exit(0)

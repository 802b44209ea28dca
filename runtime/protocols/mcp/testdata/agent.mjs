// An agent on the makers' server: its skills are named by the data of a message. It prints
// its address, and each task that began or is canceled.
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

const [judges, streams] = process.argv.slice(2)
const sdk = (name) => import(pathToFileURL(`${judges}/node_modules/@a2a-js/sdk/dist/${name}index.js`))
const { AgentEvent, DefaultRequestHandler, InMemoryTaskStore, JsonRpcTransportHandler, UnauthenticatedUser, defaultServerCallContextBuilder, validateVersion } = await sdk('server/')
const { AgentCard, TaskState, Role } = await sdk('')

const part = (content) => ({ content: typeof content === 'string' ? { $case: 'text', value: content } : { $case: 'data', value: content }, metadata: undefined, filename: '', mediaType: '' })
const says = (text) => ({ messageId: crypto.randomUUID(), contextId: '', taskId: '', role: Role.ROLE_AGENT, parts: [part(text)], metadata: undefined, extensions: [], referenceTaskIds: [] })
const waiting = new Map()

class Executor {
  async execute(ctx, bus) {
    const { taskId, contextId } = ctx
    const content = ctx.userMessage.parts[0].content
    const [skill, args] = content.$case === 'data' ? [content.value.skill, content.value.arguments] : ['talk', content.value]
    if (skill === 'talk') {
      bus.publish(AgentEvent.message(says(`You said ${args}`)))
      return
    }
    const status = (state, text) => ({ state, message: text ? says(text) : undefined, timestamp: new Date().toISOString() })
    const update = (state, text) => bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, text), metadata: undefined }))
    bus.publish(AgentEvent.task({ id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED), artifacts: [], history: [], metadata: undefined }))
    waiting.set(taskId, skill)
    console.log(`began ${skill} ${ctx.userMessage.messageId}`)
    update(TaskState.TASK_STATE_WORKING)
    await new Promise((done) => setTimeout(done, 200))
    switch (skill) {
      case 'work':
        bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, append: false, lastChunk: true, metadata: undefined,
          artifact: { artifactId: 'a', name: '', description: '', metadata: undefined, extensions: [], parts: [part({ ...args, confidence: 0.9 }), part('Done.')] } }))
        update(TaskState.TASK_STATE_COMPLETED)
        break
      case 'refuse':
        update(TaskState.TASK_STATE_REJECTED, 'Not today')
        break
      case 'ask':
        update(TaskState.TASK_STATE_INPUT_REQUIRED, 'Which one?')
        break
      default:
        await new Promise((done) => waiting.set(taskId, Object.assign(done, { skill })))
    }
  }
  async cancelTask(taskId, bus) {
    const skill = waiting.get(taskId)
    console.log(`canceled ${skill.skill ?? skill}`)
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status: { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: undefined }, metadata: undefined }))
    if (typeof skill === 'function') skill()
  }
}

const skills = ['work', 'talk', 'refuse', 'ask', 'never'].map((id) => ({ id, name: id, description: `It can ${id}.`, tags: [], inputModes: [id === 'talk' ? 'text/plain' : 'application/json'] }))
let handler
const server = createServer(async (req, res) => {
  const answer = (value) => { res.writeHead(200, { 'Content-Type': 'application/json' }); res.end(JSON.stringify(value)) }
  if (req.url === '/.well-known/agent-card.json') return answer(AgentCard.toJSON(await handler.getAgentCard()))
  let text = ''
  for await (const chunk of req) text += chunk
  const body = JSON.parse(text)
  try {
    const context = defaultServerCallContextBuilder({ extensions: [], user: new UnauthenticatedUser(), headers: req.headers, requestedVersion: req.headers['a2a-version'] })
    validateVersion(context.requestedVersion, await handler.getAgentCard(), 'JSONRPC')
    const result = await new JsonRpcTransportHandler(handler).handle(body, context)
    if (typeof result?.[Symbol.asyncIterator] !== 'function') return answer(result)
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    for await (const event of result) res.write(`data: ${JSON.stringify(event)}\n\n`)
    res.end()
  } catch (err) {
    if (!res.headersSent) return answer({ jsonrpc: '2.0', id: body.id ?? null, error: JsonRpcTransportHandler.mapToJSONRPCError(err) })
    res.end(`event: error\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: body.id ?? null, error: JsonRpcTransportHandler.mapToJSONRPCError(err) })}\n\n`)
  }
})
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}`
  const card = AgentCard.fromJSON({ name: 'maker', description: 'An agent of the makers.', version: '1', capabilities: { streaming: streams === 'true' }, skills,
    supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }], defaultInputModes: ['application/json'], defaultOutputModes: ['application/json'] })
  handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor())
  console.log(url)
})

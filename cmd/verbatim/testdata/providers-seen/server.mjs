// Plays forty behaviours of endpoints that speak the chat-completions protocol, each as it was
// publicly reported (see cases.jsonl). A behaviour is reached by its name, as the first part of
// the path: http://127.0.0.1:PORT/NAME/v1/chat/completions.
//
//   node server-2.mjs [PORT]      serves them, and those of server-2.mjs, until it is stopped
//
// The model behind every behaviour is the same: it reads what is outstanding and tells it, and it
// leaves the note that the person asked for. Only the endpoint around it differs.

import http from 'node:http'

export const NOTE = 'our tax adviser in Lyon posts the returns'

// ---- the model ---------------------------------------------------------------------------

const words = m => {
  const c = m.content
  if (c == null) return ''
  return typeof c === 'string' ? c : c.map(p => p.text ?? '').join('')
}

// What the person said last, and what the client answered to the model's calls since then. The
// client may have folded roles into one another, so the conversation is looked at as a text.
function conversation (messages) {
  const all = messages.map(m => words(m)).join('\n\u0001\n')
  const at = Math.max(all.lastIndexOf('points in one go'), all.lastIndexOf('Put a note on'))
  if (at < 0) return { said: '', since: '' }
  const end = all.indexOf('\n', at)
  return { said: all.slice(at, end < 0 ? undefined : end), since: end < 0 ? '' : all.slice(end) }
}

const find = (tools, re) => tools?.find(t => re.test(t.function?.name ?? ''))?.function

// The arguments of a call, with null for what the schema requires and the model leaves out.
function fill (f, args) {
  const wanted = f?.parameters?.required ?? []
  for (const k of wanted) if (!(k in args)) args[k] = null
  return args
}

// What the model does next: calls, each {name, args, verb}.
export function next (req, { together = false, bare = false } = {}) {
  const { said, since } = conversation(req.messages)
  const f = re => find(req.tools, re)
  const call = (verb, args) => {
    const fn = f(new RegExp('^' + verb.replace(/[.]/g, '(__|[.]|_)') + '$'))
    return { verb, name: fn?.name ?? verb.replace('.', '__'), args: bare && !Object.keys(args).length ? {} : fill(fn, args) }
  }
  if (/points in one go/.test(said)) {
    if (/get-outstanding answered/.test(since)) return [call('reply.tell', { facts: ['client.get-outstanding'] })]
    const read = call('client.get-outstanding', {})
    return together ? [read, call('reply.tell', { facts: ['client.get-outstanding'] })] : [read]
  }
  if (/Put a note on/.test(said)) {
    if (/done: client.add-note/.test(since)) return [call('reply.say', { what: 'WELCOME' })]
    return [call('client.add-note', { 'request-id': '@pierre-dupont-source-of-wealth', note: NOTE })]
  }
  return req.tools?.length ? [{ verb: 'other', name: req.tools[0].function.name, args: fill(req.tools[0].function, {}) }] : []
}

// The same, in the client's own small language, for requests without functions.
export function script (calls) {
  const value = v => Array.isArray(v) ? '[' + v.map(value).join(' ') + ']' : /^(@|[A-Z_]+$)/.test(v) ? v : JSON.stringify(v)
  const line = c => c.verb + Object.entries(c.args).filter(([, v]) => v != null).map(([k, v]) => ` :${k} ${value(v)}`).join('')
  return calls.length ? '~~~verbatim\n' + calls.map(line).join('\n') + '\n~~~' : 'Yes.'
}

// ---- the protocol ------------------------------------------------------------------------

const usage = n => ({ prompt_tokens: 4800, completion_tokens: n, total_tokens: 4800 + n })
export const pieces = (s, n) => { const r = []; const l = Math.max(1, Math.ceil(s.length / n)); for (let i = 0; i < s.length; i += l) r.push(s.slice(i, i + l)); return r }

class Reply {
  constructor (case_, req, res) { Object.assign(this, { case_, req, res, id: 'chatcmpl-' + case_.n, space: ' ' }) }

  id9 (i) { return ('call' + this.case_.n + 'x' + i + '00000').slice(0, 9) }
  callId (i) { return this.short ? this.id9(i) : `call_${this.case_.n}_${i}` }

  refuse (status, body, headers = {}) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    this.case_.log.push({ status, refused: text.slice(0, 300) })
    this.res.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json', ...headers })
    this.res.end(text)
  }

  begin () { this.res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }) }
  raw (s) { this.res.write(s) }
  data (o) { this.raw('data:' + this.space + (typeof o === 'string' ? o : JSON.stringify(o)) + '\n\n') }
  chunk (delta, finish = null, more = {}) {
    this.data({ id: this.id, object: 'chat.completion.chunk', created: 1, model: this.req.model, choices: [{ index: 0, delta, finish_reason: finish }], ...more })
  }
  end (done = true) { if (done) this.data('[DONE]'); this.res.end() }
  spoke (calls) { this.case_.log.push({ status: 200, said: calls.map(c => c.verb) }) }

  whole (message, finish) {
    this.res.writeHead(200, { 'content-type': 'application/json' })
    this.res.end(JSON.stringify({ id: this.id, object: 'chat.completion', created: 1, model: this.req.model, choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }], usage: usage(40) }))
  }
  calls (calls) {
    return calls.map((c, i) => ({ index: i, id: this.callId(i), type: 'function', function: { name: c.name, arguments: JSON.stringify(c.args) } }))
  }

  // As the protocol has it: the frame of every behaviour that differs elsewhere.
  plain (calls = next(this.req), { before, extra = {}, finish = 'tool_calls', message = {} } = {}) {
    this.spoke(calls)
    const functions = this.req.tools?.length && calls.length
    if (!this.req.stream) {
      return functions ? this.whole({ ...message, tool_calls: this.calls(calls).map(({ index, ...c }) => ({ ...c, ...extra })) }, finish) : this.whole({ content: script(calls) }, 'stop')
    }
    this.begin()
    before?.()
    this.chunk({ role: 'assistant', content: functions ? null : '' })
    if (functions) {
      for (const c of this.calls(calls)) {
        this.chunk({ tool_calls: [{ ...c, function: { name: c.function.name, arguments: '' }, ...extra }] })
        for (const p of pieces(c.function.arguments, 3)) this.chunk({ tool_calls: [{ index: c.index, function: { arguments: p } }] })
      }
    } else for (const p of pieces(script(calls), 5)) this.chunk({ content: p })
    this.chunk({}, functions ? finish : 'stop')
    if (this.req.stream_options?.include_usage) this.data({ id: this.id, object: 'chat.completion.chunk', created: 1, model: this.req.model, choices: [], usage: usage(40) })
    this.end()
  }

  // A text that is the model's whole answer, in pieces.
  text (s, calls, n = 7) {
    this.spoke(calls)
    if (!this.req.stream) return this.whole({ content: s }, 'stop')
    this.begin()
    this.chunk({ role: 'assistant', content: '' })
    for (const p of pieces(s, n)) this.chunk({ content: p })
    this.chunk({}, 'stop')
    this.end()
  }
}

export const openai = (message, type = 'invalid_request_error', param = null, code = null) => ({ error: { message, type, param, code } })
const flat = (message, type, code) => ({ object: 'error', message, type, param: null, code })

// About how many tokens the request has.
export const tokens = body => Math.ceil(body.length / 4)

// ---- the behaviours ----------------------------------------------------------------------

const afterSystem = ms => { let i = 0; while (i < ms.length && ms[i].role === 'system') i++; return ms.slice(i) }
const inTurn = ms => ms.length > 0 && ms.every((m, i) => m.role === (i % 2 ? 'assistant' : 'user'))
const assistants = ms => ms.map((m, i) => [m, i]).filter(([m]) => m.role === 'assistant')

export const plays = {
  // Nothing is odd here: what the program does with it is what the others are compared with.
  control: r => r.plain(),

  'openai-o1-mini-roles': r => {
    const { req } = r
    if (req.tools) return r.refuse(404, openai('tools is not supported in this model.'))
    const i = req.messages.findIndex(m => m.role === 'system' || m.role === 'developer')
    if (i >= 0) return r.refuse(400, openai(`Unsupported value: 'messages[${i}].role' does not support '${req.messages[i].role}' with this model.`, undefined, `messages[${i}].role`, 'unsupported_value'))
    if ('max_tokens' in req) return r.refuse(400, openai("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", undefined, 'max_tokens', 'unsupported_parameter'))
    if ((req.temperature ?? 1) !== 1) return r.refuse(400, openai("Unsupported parameter: 'temperature' is not supported with this model.", undefined, 'temperature', 'unsupported_parameter'))
    r.plain()
  },

  'azure-filter-chunks': r => {
    const ok = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } }
    if (!r.req.stream) return r.plain()
    const calls = next(r.req)
    r.spoke(calls)
    r.begin()
    r.data({ id: '', object: '', created: 0, model: '', system_fingerprint: null, choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: ok }] })
    r.chunk({ role: 'assistant', content: null })
    if (r.req.tools) for (const c of r.calls(calls)) r.chunk({ tool_calls: [c] })
    else r.chunk({ content: script(calls) })
    r.data({ id: '', object: '', created: 0, model: '', choices: [{ index: 0, finish_reason: null, content_filter_offsets: { check_offset: 33, start_offset: 33, end_offset: 43 }, content_filter_results: ok }] })
    r.chunk({}, r.req.tools ? 'tool_calls' : 'stop')
    r.end()
  },

  'mistral-extra-fields': r => {
    r.short = true
    const known = new Set(['model', 'messages', 'temperature', 'top_p', 'max_tokens', 'stream', 'safe_prompt', 'random_seed', 'tools', 'tool_choice', 'response_format'])
    const detail = Object.keys(r.req).filter(k => !known.has(k)).map(k => ({ type: 'extra_forbidden', loc: ['body', k], msg: 'Extra inputs are not permitted', input: r.req[k] }))
    if (detail.length) return r.refuse(422, { object: 'error', message: { detail }, type: 'invalid_request_error', param: null, code: null })
    r.plain()
  },

  'mistral-user-after-tool': r => {
    r.short = true
    const ms = r.req.messages
    for (let i = 1; i < ms.length; i++) {
      if (ms[i].role === 'user' && ms[i - 1].role === 'tool') return r.refuse(400, flat("Unexpected role 'user' after role 'tool'", 'invalid_request_error', null))
    }
    // It slips once, so that its client has something to say after a tool's answer.
    const calls = next(r.req)
    if (calls[0]?.verb === 'reply.tell' && !r.case_.slipped) { r.case_.slipped = true; calls[0].args = { facts: ['client.get-everything'] } }
    r.plain(calls)
  },

  'magistral-thinking-list': r => {
    r.short = true
    const think = t => [{ type: 'thinking', thinking: [{ type: 'text', text: t }] }]
    const calls = next(r.req)
    r.spoke(calls)
    if (!r.req.stream) return r.whole({ content: think('The person wants a look-up.'), tool_calls: r.calls(calls).map(({ index, ...c }) => c) }, 'tool_calls')
    r.begin()
    r.chunk({ role: 'assistant', content: '' })
    for (const t of ['The person', ' wants', ' a call', ' of one function.']) r.chunk({ content: think(t) })
    if (r.req.tools) r.chunk({ content: '', tool_calls: r.calls(calls) }, 'tool_calls', { usage: usage(60) })
    else { r.chunk({ content: [{ type: 'text', text: script(calls) }] }); r.chunk({ content: '' }, 'stop', { usage: usage(60) }) }
    r.end()
  },

  'deepseek-keep-alive': r => {
    if (!r.req.stream) { r.res.writeHead(200, { 'content-type': 'application/json' }); r.raw('\n\n\n'); const calls = next(r.req); r.spoke(calls); return r.res.end(JSON.stringify({ id: r.id, object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: '', tool_calls: r.calls(calls) }, finish_reason: 'tool_calls' }], usage: usage(9) })) }
    r.plain(undefined, { before: () => { for (let i = 0; i < 4; i++) r.raw(': keep-alive\n\n'); r.chunk({ role: 'assistant', content: '' }); r.raw(': keep-alive\n\n') } })
  },

  'openrouter-broken-midstream': r => {
    const calls = next(r.req)
    if (r.case_.n > 1 || !r.req.stream) return r.plain(calls, { before: () => r.raw(': OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n') })
    r.case_.log.push({ status: 200, refused: 'an error in the middle of a stream' })
    r.begin()
    r.raw(': OPENROUTER PROCESSING\n\n')
    r.chunk({ role: 'assistant', content: '' })
    const c = r.calls(calls)[0]
    if (r.req.tools) r.chunk({ tool_calls: [{ ...c, function: { name: c.function.name, arguments: '{"' } }] })
    r.data({ id: r.id, object: 'chat.completion.chunk', created: 1, model: r.req.model, provider: 'Some Cloud', error: { code: 502, message: 'Provider disconnected', metadata: { error_type: 'provider_unavailable' } }, choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }] })
    r.end()
  },

  'openrouter-no-tools': r => {
    if (r.req.tools) return r.refuse(404, { error: { message: 'No endpoints found that support tool use.', code: 404 } })
    r.plain(undefined, { before: () => r.raw(': OPENROUTER PROCESSING\n\n') })
  },

  'vllm-context-bound': r => {
    const max = 6048
    const asked = r.req.max_completion_tokens ?? r.req.max_tokens ?? 16
    const said = Math.min(tokens(r.body), 5400)
    if (said + asked > max) return r.refuse(400, flat(`This model's maximum context length is ${max} tokens. However, you requested ${said + asked} tokens (${said} in the messages, ${asked} in the completion). Please reduce the length of the messages or completion.`, 'BadRequestError', 400))
    r.plain()
  },

  'vllm-xgrammar-required': r => {
    const { tool_choice: t } = r.req
    if (r.req.tools && t && t !== 'auto' && t !== 'none') return r.refuse(400, flat('The provided JSON schema contains features not supported by xgrammar.', 'BadRequestError', 400))
    r.plain()
  },

  'vllm-gemma3-roles': r => {
    const ms = r.req.messages
    const rest = ms[0]?.role === 'system' ? ms.slice(1) : ms
    if (!inTurn(rest)) return r.refuse(400, openai('Conversation roles must alternate user/assistant/user/assistant/...', 'BadRequestError', null, 400))
    r.plain()
  },

  'llamacpp-loading': r => {
    r.case_.since ??= Date.now()
    if (Date.now() - r.case_.since < 2500) return r.refuse(503, { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } })
    r.plain()
  },

  'llamacpp-tools-stream': r => {
    if (r.req.tools && r.req.stream) return r.refuse(500, { error: { code: 500, message: 'Cannot use tools with stream', type: 'server_error' } })
    r.plain()
  },

  'ollama-index-zero': r => {
    const calls = next(r.req, { together: true })
    if (!r.req.tools || !r.req.stream) return r.plain(calls)
    r.spoke(calls)
    r.begin()
    for (const c of r.calls(calls)) r.chunk({ role: 'assistant', content: '', tool_calls: [{ ...c, index: 0 }] }, null, { system_fingerprint: 'fp_ollama' })
    r.chunk({ role: 'assistant', content: '' }, 'tool_calls', { system_fingerprint: 'fp_ollama' })
    r.end()
  },

  'lmstudio-wrong-path': r => {
    if (!r.path.endsWith('/v1/chat/completions')) return r.refuse(200, { error: `Unexpected endpoint or method. (POST ${r.path})` })
    r.plain()
  },

  'lmstudio-error-event': r => {
    if (tokens(r.body) <= 4096) return r.plain()
    const message = `Input does not fit in context length. The input has ${tokens(r.body)} tokens, but the context length only supports 4096 tokens.`
    if (!r.req.stream) return r.refuse(200, { error: { message }, message })
    r.case_.log.push({ status: 200, refused: message })
    r.begin()
    r.raw('event: error\n')
    r.data({ error: { message }, message })
    r.res.end()
  },

  'lmstudio-empty-overflow': r => {
    if (tokens(r.body) <= 4096) return r.plain()
    r.case_.log.push({ status: 200, refused: 'an answer without anything in it' })
    if (!r.req.stream) return r.whole({ content: '' }, 'stop')
    r.begin()
    r.chunk({}, 'stop')
    r.data({ id: r.id, object: 'chat.completion.chunk', created: 1, model: r.req.model, choices: [], usage: { prompt_tokens: tokens(r.body), completion_tokens: 0, total_tokens: tokens(r.body) } })
    r.end()
  },

  'dashscope-empty-ids': r => {
    const calls = next(r.req)
    if (!r.req.tools || !r.req.stream) return r.plain(calls)
    r.spoke(calls)
    r.begin()
    r.chunk({ role: 'assistant', content: '' })
    for (const c of r.calls(calls)) {
      r.chunk({ content: null, tool_calls: [{ ...c, function: { name: c.function.name, arguments: '' } }] })
      for (const p of pieces(c.function.arguments, 4)) r.chunk({ content: null, tool_calls: [{ index: c.index, id: '', type: 'function', function: { name: null, arguments: p } }] })
      r.chunk({ content: null, tool_calls: [{ index: c.index, id: '', type: 'function', function: { name: null, arguments: null } }] })
    }
    r.chunk({ content: '' }, 'tool_calls')
    r.end()
  },

  'nim-name-repeated': r => {
    const calls = next(r.req)
    if (!r.req.tools || !r.req.stream) return r.plain(calls)
    r.spoke(calls)
    r.begin()
    r.chunk({ role: 'assistant', content: null })
    for (const c of r.calls(calls)) for (const p of pieces(c.function.arguments, 4)) r.chunk({ tool_calls: [{ ...c, function: { name: c.function.name, arguments: p } }] })
    r.chunk({}, 'tool_calls')
    r.end()
  },

  'moonshot-k25': r => {
    const { req } = r
    if ('temperature' in req && req.temperature !== 1) return r.refuse(400, { error: { message: 'invalid temperature: only 1 is allowed for this model', type: 'invalid_request_error' } })
    for (const [m, i] of assistants(req.messages)) {
      if (m.tool_calls && !m.reasoning_content) return r.refuse(400, { error: { message: `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${i}`, type: 'invalid_request_error' } })
      if (m.content === '') return r.refuse(400, { error: { message: 'text content is empty', type: 'invalid_request_error' } })
    }
    const thought = 'A look-up is wanted.'
    r.plain(undefined, { message: { reasoning_content: thought }, before: () => { for (const p of pieces(thought, 3)) r.chunk({ role: 'assistant', content: '', reasoning_content: p }) } })
  },

  'moonshot-schema': r => {
    const bad = (s, path) => {
      if (s.anyOf) {
        if (s.type) return `At path '${path}': when using anyOf, type should be defined in anyOf items instead of the parent schema`
        return s.anyOf.map(x => bad(x, path)).find(Boolean)
      }
      if (!s.type) return `At path '${path}': type is not defined`
      for (const [k, v] of Object.entries(s.properties ?? {})) { const b = bad(v, (path === 'root' ? '' : path + '.') + 'properties.' + k); if (b) return b }
      return s.items ? bad(s.items, path + '.items') : undefined
    }
    for (const t of r.req.tools ?? []) {
      const b = bad(t.function.parameters ?? { type: 'object' }, 'root')
      if (b) return r.refuse(400, { error: { message: `Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <${b}>`, type: 'invalid_request_error' } })
    }
    r.plain()
  },

  'zhipu-temperature': r => {
    const t = r.req.temperature
    if (t !== undefined && (t <= 0 || t >= 1)) return r.refuse(400, { error: { code: '1214', message: 'temperature参数非法。请检查文档。' } })
    r.plain()
  },

  'xai-wrong-key': r => r.refuse(400, { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: sk***st. You can obtain an API key from the console.' }),

  'workers-ai-content': r => {
    const i = r.req.messages.findIndex(m => typeof m.content !== 'string')
    if (i >= 0) {
      const m = r.req.messages[i]
      const why = 'content' in m ? `Type mismatch of '/messages/${i}/content', '${Array.isArray(m.content) ? 'array' : 'null'}' not in 'string'` : `required properties at '/messages/${i}' are 'role,content'`
      return r.refuse(400, { errors: [{ message: `AiError: Bad input: Error: oneOf at '/' not met, 0 matches: ${why}`, code: 5006 }], success: false, result: {}, messages: [] })
    }
    r.plain()
  },

  'github-models-size': r => {
    if (tokens(r.body) <= 4000) return r.plain()
    const message = 'Request body too large for o1-mini model. Max size: 4000 tokens.'
    r.refuse(413, { error: { code: 'tokens_limit_reached', message, details: message } })
  },

  'tgi-arguments-object': r => {
    const calls = next(r.req)
    if (!r.req.tools) return r.plain(calls)
    r.spoke(calls)
    const made = calls.map((c, i) => ({ id: '0', type: 'function', function: { description: null, name: c.name, arguments: c.args } }))
    if (!r.req.stream) return r.whole({ content: null, tool_calls: made }, 'eos_token')
    r.begin()
    r.chunk({ role: 'assistant', content: null, tool_calls: made.map((c, i) => ({ index: i, ...c })) }, 'eos_token')
    r.end()
  },

  'gpt-oss-channels-in-text': r => {
    const calls = next(r.req)
    if (!r.req.tools) return r.plain(calls)
    const c = calls[0]
    r.text(`<|channel|>analysis<|message|>The user wants a call of ${c.name}.<|end|><|start|>assistant<|channel|>commentary to=functions.${c.name} <|constrain|>json<|message|>${JSON.stringify(c.args)}<|call|>`, calls, 9)
  },

  'qwen3-tags-after-thinking': r => {
    const calls = next(r.req)
    if (!r.req.tools) return r.plain(calls)
    r.text('<think>\nThe user wants one of my functions.\n</think>\n\n' + calls.map(c => `<tool_call>\n${JSON.stringify({ name: c.name, arguments: c.args })}\n</tool_call>`).join('\n'), calls, 11)
  },

  'groq-tool-use-failed': r => {
    if (r.case_.n > 1) return r.plain()
    const error = { message: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.", type: 'invalid_request_error', code: 'tool_use_failed', failed_generation: 'Tool use failed: JSON does not match the expected schema for tool calls', status_code: 400 }
    if (!r.req.stream) return r.refuse(400, { error })
    r.case_.log.push({ status: 200, refused: error.message })
    r.begin()
    r.raw('event: error\n')
    r.data({ error })
    r.res.end()
  },

  'groq-retry-seconds': r => {
    r.case_.since ??= Date.now()
    if (Date.now() - r.case_.since < 1200) return r.refuse(429, openai(`Rate limit reached for model \`${r.req.model}\` on requests per minute (RPM): Limit 30, Used 30, Requested 1. Please try again in 1.2s.`, 'requests', undefined, 'rate_limit_exceeded'), { 'retry-after': '2', 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1.2s' })
    r.plain()
  },

  'azure-retry-tomorrow': r => r.refuse(429, { error: { code: '429', message: 'Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-05-01-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 86400 seconds.' } }, { 'retry-after': '86400', 'retry-after-ms': '86400000' }),

  'gateway-retry-date': r => {
    r.case_.until ??= (Math.floor(Date.now() / 1000) + 3) * 1000
    if (Date.now() < r.case_.until) return r.refuse(429, openai('Too many requests', 'rate_limit_error'), { 'retry-after': new Date(r.case_.until).toUTCString() })
    r.plain()
  },

  'openai-quota': r => r.refuse(429, openai('You exceeded your current quota, please check your plan and billing details.', 'insufficient_quota', null, 'insufficient_quota')),

  'databricks-unknown-field': r => {
    const known = new Set(['model', 'messages', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop', 'n', 'stream', 'tools', 'tool_choice', 'logprobs', 'top_logprobs', 'reasoning_effort', 'response_format'])
    const k = Object.keys(r.req).find(k => !known.has(k))
    if (k) return r.refuse(400, { error_code: 'BAD_REQUEST', message: `Bad request: json: unknown field "${k}"` })
    if (r.req.tools?.some(t => !t.function.parameters)) return r.refuse(400, { error_code: 'BAD_REQUEST', message: 'Bad request: "parameters" is a required property for "function" object in parameter "tools"' })
    r.plain()
  },

  'cloudflare-524-page': r => r.refuse(524, '<!DOCTYPE html>\n<html lang="en-US">\n<head>\n<title>models.example | 524: A timeout occurred</title>\n<meta charset="UTF-8" />\n' + '<meta name="robots" content="noindex" />\n'.repeat(90) + '</head>\n<body>\n<h1>A timeout occurred <span>Error code 524</span></h1>\n' + '<p>The origin web server did not answer in time.</p>\n'.repeat(40) + '</body>\n</html>\n', { 'content-type': 'text/html; charset=UTF-8' }),

  'sglang-json-for-stream': r => {
    if (!r.req.tools) return r.plain()
    const calls = next(r.req)
    r.spoke(calls)
    r.whole({ content: null, tool_calls: r.calls(calls).map(({ index, ...c }) => c) }, 'tool_calls')
  },

  'longcat-no-space-no-done': r => {
    const calls = next(r.req)
    if (!r.req.stream) return r.plain(calls)
    r.spoke(calls)
    r.space = ''
    r.begin()
    r.chunk({ role: 'assistant', content: '', function_call: null }, null, { content: '', lastOne: false })
    if (r.req.tools) for (const c of r.calls(calls)) r.chunk({ role: 'assistant', content: '', function_call: null, tool_calls: [c] }, null, { content: '', lastOne: false })
    else r.chunk({ content: script(calls) }, null, { lastOne: false })
    r.chunk({ content: '', function_call: null }, r.req.tools ? 'tool_calls' : 'stop', { content: '', lastOne: true, usage: usage(40) })
    r.end(false)
  },

  'perplexity-roles-and-usage': r => {
    if (!inTurn(afterSystem(r.req.messages))) return r.refuse(400, { error: { message: 'After the (optional) system message(s), user and assistant roles should be alternating.', type: 'invalid_message', code: 400 } })
    const calls = next({ messages: r.req.messages })
    if (!r.req.stream) return r.text(script(calls), calls)
    r.spoke(calls)
    r.begin()
    const parts = pieces(script(calls), 40)
    parts.forEach((p, i) => r.chunk({ role: 'assistant', content: p }, null, { citations: [], usage: { prompt_tokens: 4800, completion_tokens: i + 1, total_tokens: 4801 + i } }))
    r.chunk({ role: 'assistant', content: '' }, 'stop', { citations: [], usage: { prompt_tokens: 4800, completion_tokens: parts.length, total_tokens: 4800 + parts.length } })
    r.end()
  },

  'gemini-thought-signature': r => {
    const ms = r.req.messages
    const turn = ms.map(m => m.role).lastIndexOf('user')
    for (const [m, i] of assistants(ms)) {
      if (i < turn || !m.tool_calls) continue
      for (const c of m.tool_calls) {
        if (c.extra_content?.google?.thought_signature !== 'c2lnbmVk') {
          return r.refuse(400, [{ error: { code: 400, message: `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call \`default_api:${c.function?.name}\` , position ${i}.`, status: 'INVALID_ARGUMENT' } }])
        }
      }
    }
    r.plain(undefined, { extra: { extra_content: { google: { thought_signature: 'c2lnbmVk' } } } })
  },

  'vllm-hermes-no-arguments': r => {
    const calls = next(r.req, { bare: true })
    if (!r.req.tools || !r.req.stream) return r.plain(calls)
    r.spoke(calls)
    r.begin()
    r.chunk({ role: 'assistant', content: '' })
    for (const c of r.calls(calls)) {
      const bare = c.function.arguments === '{}'
      r.chunk({ tool_calls: [{ index: c.index, id: c.id, type: 'function', function: { name: c.function.name } }] })
      if (!bare) for (const p of pieces(c.function.arguments, 3)) r.chunk({ tool_calls: [{ index: c.index, function: { arguments: p } }] })
    }
    r.chunk({}, 'tool_calls')
    r.end()
  }
}

// ---- the server --------------------------------------------------------------------------

export function serve (port = 0) {
  const states = new Map()
  const state = name => { if (!states.has(name)) states.set(name, { n: 0, log: [] }); return states.get(name) }
  const server = http.createServer((q, res) => {
    const parts = []
    q.on('data', d => parts.push(d))
    q.on('end', () => {
      const body = Buffer.concat(parts).toString()
      const [, name, ...rest] = q.url.split('/')
      const play = plays[name]
      const path = '/' + rest.join('/').split('?')[0]
      const case_ = state(name)
      if (!play) { res.writeHead(404); return res.end() }
      if (q.method !== 'POST') {
        const [status, says] = play.get ?? [404, openai('Not found')]
        case_.log.push({ status, refused: q.method + ' ' + path })
        res.writeHead(status, { 'content-type': 'application/json' })
        return res.end(JSON.stringify(says))
      }
      case_.n++
      let req
      try { req = JSON.parse(body) } catch { res.writeHead(400); return res.end() }
      const r = new Reply(case_, req, res)
      r.body = body
      r.path = path
      if (!path.endsWith('/chat/completions')) return r.refuse(404, openai('Not found'))
      play(r)
    })
  })
  return new Promise(resolve => server.listen(port, '127.0.0.1', () => resolve({ server, state, forget: name => states.delete(name), port: server.address().port })))
}

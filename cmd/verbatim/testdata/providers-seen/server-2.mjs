// Plays forty more behaviours of endpoints (see cases-2.jsonl), beside those of server.mjs.

import { createGzip } from 'node:zlib'
import { pathToFileURL } from 'node:url'
import { plays, next, script, pieces, openai, tokens, serve } from './server.mjs'

const bound = req => req.max_completion_tokens ?? req.max_tokens
const json = { 'content-type': 'application/json' }
// An answer without any call or word in it, as a stream or whole.
const empty = (r, finish, more = {}) => {
  if (!r.req.stream) return r.whole({ content: '', ...more.message }, finish)
  r.begin()
  r.chunk({ role: 'assistant', content: '' })
  for (const d of more.deltas ?? []) r.chunk(d)
  r.chunk({}, finish, more.last)
  if (more.usage) r.data({ id: r.id, object: 'chat.completion.chunk', created: 1, model: r.req.model, choices: [], usage: more.usage })
  r.end()
}
const given = args => Object.entries(args).filter(([, v]) => v != null)

Object.assign(plays, {
  'openai-stream-unverified': r => {
    if (r.req.stream) return r.refuse(400, openai('Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization. If you just verified, it can take up to 15 minutes for access to propagate.', undefined, 'stream', 'unsupported_value'))
    r.plain()
  },

  'openai-effort-none': r => {
    if (r.req.tools?.length && r.req.reasoning_effort !== 'none') return r.refuse(400, openai(`Function tools with reasoning_effort are not supported for ${r.req.model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`, undefined, 'reasoning_effort'))
    r.plain()
  },

  'openai-responses-only': r => r.refuse(404, openai('This model is only supported in v1/responses and not in v1/chat/completions.', undefined, 'model')),

  'azure-filter-jailbreak': r => r.refuse(400, { error: { message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry. To learn more about our content filtering policies please read our documentation: https://go.microsoft.com/fwlink/?linkid=2198766", type: null, param: 'prompt', code: 'content_filter', status: 400, innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: { hate: { filtered: false, severity: 'safe' }, jailbreak: { filtered: true, detected: true }, self_harm: { filtered: false, severity: 'safe' }, sexual: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } } } } }),

  'anthropic-529': r => {
    if (r.case_.n <= 2) return r.refuse(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, { 'x-should-retry': 'true' })
    r.plain()
  },

  'openrouter-402-afford': r => {
    const asked = bound(r.req) ?? 65536
    if (asked > 1024) return r.refuse(402, { error: { message: `This request requires more credits, or fewer max_tokens. You requested up to ${asked} tokens, but can only afford 1024. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account`, code: 402, metadata: { provider_name: null } }, user_id: 'user_2x' })
    r.plain()
  },

  'openrouter-data-policy': r => r.refuse(404, { error: { message: 'No endpoints found matching your data policy (Paid model training). Configure: https://openrouter.ai/settings/privacy', code: 404 } }),

  'openrouter-429-upstream': r => r.refuse(429, { error: { message: 'Provider returned error', code: 429, metadata: { raw: `${r.req.model} is temporarily rate-limited upstream. Please retry shortly, or add your own key to accumulate your rate limits: https://openrouter.ai/settings/integrations`, provider_name: 'Google AI Studio' } }, user_id: 'user_2x' }),

  'groq-413-tpm': r => {
    const asked = tokens(r.body) + (bound(r.req) ?? 1024)
    if (asked > 6000) return r.refuse(413, { error: { message: `Request too large for model \`${r.req.model}\` in organization \`org_01\` service tier \`on_demand\` on tokens per minute (TPM): Limit 6000, Requested ${asked}, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing`, type: 'tokens', code: 'rate_limit_exceeded' } })
    r.plain()
  },

  'gemini-no-index-stop': r => {
    const calls = next(r.req)
    if (!r.req.tools || !r.req.stream) return r.plain(calls)
    r.spoke(calls)
    r.begin()
    for (const c of r.calls(calls)) {
      const [a, b, d = ''] = pieces(c.function.arguments, 3)
      r.chunk({ role: 'assistant', tool_calls: [{ id: c.id, type: 'function', function: { name: c.function.name, arguments: a }, extra_content: { google: { thought_signature: 'c2ln' } } }] })
      r.chunk({ role: 'assistant', tool_calls: [{ function: { arguments: b ?? '' } }] })
      r.chunk({ role: 'assistant', tool_calls: [{ function: { arguments: d } }] })
    }
    r.chunk({ role: 'assistant', extra_content: { google: { thought_signature: 'c2ln' } } })
    r.chunk({ role: 'assistant' }, 'stop')
    r.end()
  },

  'vertex-anyof-siblings': r => {
    const bad = (s, path) => {
      if (!s || typeof s !== 'object') return
      if (s.anyOf && Object.keys(s).length > 1) return path
      for (const [k, v] of Object.entries(s.properties ?? {})) { const b = bad(v, path + '.' + k); if (b) return b }
      for (const v of s.anyOf ?? []) { const b = bad(v, path); if (b) return b }
      return s.items ? bad(s.items, path + '.items') : undefined
    }
    for (const t of r.req.tools ?? []) {
      const b = bad(t.function.parameters, 'parameters')
      if (b) return r.refuse(400, [{ error: { code: 400, message: `Unable to submit request because \`${t.function.name}\` functionDeclaration \`${b}\` schema specified other fields alongside any_of. When using any_of, it must be the only field set. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling`, status: 'INVALID_ARGUMENT' } }])
    }
    r.plain()
  },

  'cerebras-mixed-strict': r => {
    if (new Set((r.req.tools ?? []).map(t => t.function.strict ?? false)).size > 1) return r.refuse(422, { message: "Tools with mixed values for 'strict' are not allowed. Please set all tools to 'strict: true' or 'strict: false'", type: 'invalid_request_error', param: 'tools', code: 'wrong_api_format' })
    r.plain()
  },

  'lmstudio-required-empty': r => {
    const t = r.req.tool_choice
    if (r.req.tools && t && t !== 'auto' && t !== 'none') {
      r.case_.log.push({ status: 200, refused: 'an answer without anything in it, since a call is required' })
      return empty(r, 'stop', { message: { tool_calls: null } })
    }
    r.plain()
  },

  'lmstudio-no-models': r => r.refuse(404, openai("No models loaded. Please load a model in the developer page or use the 'lms load' command.", undefined, 'model')),

  'zai-tool-choice-auto': r => {
    if (r.req.tool_choice && r.req.tool_choice !== 'auto') return r.refuse(400, { error: { message: 'Tool choice must be auto', code: 400, metadata: { provider_name: 'Z.AI' } } })
    r.plain()
  },

  'zai-balance-chinese': r => r.refuse(429, { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } }),

  'minimax-200-base-resp': r => {
    const body = { id: '', choices: null, created: 1, model: r.req.model, object: '', usage: { total_tokens: 0 }, input_sensitive: false, output_sensitive: false, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }
    if (!r.req.stream) return r.refuse(200, body)
    r.case_.log.push({ status: 200, refused: JSON.stringify(body.base_resp) })
    r.begin()
    r.data(body)
    r.end(false)
  },

  'kimi-k2-tokens': r => {
    const calls = next(r.req)
    if (!r.req.tools) return r.plain(calls)
    r.text('<|tool_calls_section_begin|>' + calls.map((c, i) => `<|tool_call_begin|>functions.${c.name}:${i}<|tool_call_argument_begin|>${JSON.stringify(c.args)}<|tool_call_end|>`).join('') + '<|tool_calls_section_end|>', calls, 9)
  },

  'deepseek-dsml': r => {
    const calls = next(r.req)
    if (!r.req.tools) return r.plain(calls)
    const one = c => `<｜DSML｜invoke name="${c.name}">\n` + given(c.args).map(([k, v]) => `<｜DSML｜parameter name="${k}" string="${typeof v === 'string'}">${typeof v === 'string' ? v : JSON.stringify(v)}</｜DSML｜parameter>\n`).join('') + '</｜DSML｜invoke>\n'
    r.text('<｜DSML｜tool_calls>\n' + calls.map(one).join('') + '</｜DSML｜tool_calls>', calls, 11)
  },

  'foundry-delta-and-message': r => {
    const calls = next(r.req)
    r.spoke(calls)
    if (!r.req.stream) return r.req.tools ? r.whole({ tool_calls: r.calls(calls).map(({ index, ...c }) => c) }, 'tool_calls') : r.whole({ content: script(calls) }, 'stop')
    r.begin()
    let n = 0
    const one = (content, tool_calls, finish = null) => {
      const m = { role: 'assistant', content, name: null, tool_call_id: null, function_call: null, tool_calls }
      n++
      r.data({ model: null, choices: [{ delta: m, message: m, index: n - 1, finish_reason: finish, finish_details: null, logprobs: null }], usage: null, system_fingerprint: null, service_tier: null, created: 1, CreatedAt: '2025-06-05T23:21:58+00:00', id: 'chat.id.' + (3900 + n), StreamEvent: null, IsDelta: false, Successful: true, error: null, HttpStatusCode: 0, HeaderValues: null, object: 'chat.completion.chunk' })
    }
    if (r.req.tools) for (const c of r.calls(calls)) one('', [c])
    else for (const p of pieces(script(calls), 6)) one(p, [])
    one('', [], r.req.tools ? 'tool_calls' : 'stop')
    r.end()
  },

  'gcli2api-finish-every': r => {
    const calls = next(r.req)
    if (!r.req.stream) return r.plain(calls)
    r.spoke(calls)
    r.begin()
    for (const p of ['The person asks', ' for something', ' that I can do.']) r.chunk({ role: 'assistant', reasoning_content: p }, 'stop')
    if (r.req.tools) for (const c of r.calls(calls)) r.chunk({ role: 'assistant', tool_calls: [c] }, 'stop')
    else for (const p of pieces(script(calls), 5)) r.chunk({ role: 'assistant', content: p }, 'stop')
    r.chunk({}, 'stop')
    r.end()
  },

  'geniex-finish-empty': r => {
    const calls = next(r.req)
    if (!r.req.stream) return r.plain(calls)
    r.spoke(calls)
    r.begin()
    r.chunk({ role: 'assistant', content: '' }, '')
    if (r.req.tools) {
      for (const c of r.calls(calls)) {
        r.chunk({ tool_calls: [{ ...c, function: { name: c.function.name, arguments: '' } }] }, '')
        for (const p of pieces(c.function.arguments, 3)) r.chunk({ tool_calls: [{ index: c.index, function: { arguments: p } }] }, '')
      }
    } else for (const p of pieces(script(calls), 5)) r.chunk({ content: p }, '')
    r.chunk({}, '')
    r.end()
  },

  'poolside-two-ids': r => {
    const calls = next(r.req)
    if (!r.req.tools || !r.req.stream) return r.plain(calls)
    r.spoke(calls)
    r.begin()
    r.chunk({ role: 'assistant', content: '' })
    for (const c of r.calls(calls)) {
      r.chunk({ tool_calls: [{ ...c, function: { name: c.function.name, arguments: '' } }] })
      for (const p of pieces(c.function.arguments, 4)) r.chunk({ tool_calls: [{ index: c.index, id: 'chatcmpl-tool-' + c.id, type: 'function', function: { arguments: p } }] })
    }
    r.chunk({}, 'tool_calls')
    r.end()
  },

  'opencodex-arguments-twice': r => {
    const calls = next(r.req)
    if (!r.req.tools || !r.req.stream) return r.plain(calls)
    r.spoke(calls)
    r.begin()
    r.chunk({ role: 'assistant', content: null })
    for (const c of r.calls(calls)) {
      r.chunk({ tool_calls: [{ ...c, function: { name: c.function.name, arguments: '' } }] })
      for (let i = 0; i < 2; i++) r.chunk({ tool_calls: [{ index: c.index, function: { arguments: c.function.arguments } }] })
    }
    r.chunk({}, 'tool_calls')
    r.end()
  },

  'qwen-cumulative': r => {
    const calls = next(r.req)
    if (!r.req.stream || r.req.tools) return r.plain(calls)
    r.spoke(calls)
    r.begin()
    r.chunk({ role: 'assistant', content: '' })
    let all = ''
    for (const p of pieces(script(calls), 12)) r.chunk({ content: (all += p) })
    r.chunk({ content: all }, 'stop')
    r.end()
  },

  'starlette-crlf-ping': r => {
    r.raw = s => { for (const p of s.replace(/\n/g, '\r\n').split(/(?<=\r)/)) r.res.write(p) }
    r.plain(undefined, { before: () => { r.raw(': ping - 2024-02-14 09:31:12.048120\n\n'); r.chunk({ role: 'assistant' }); r.raw(': ping - 2024-02-14 09:31:27.048120\n\n') } })
  },

  'gateway-gzip': r => {
    const res = r.res; const gz = createGzip()
    gz.pipe(res)
    r.res = { writeHead: (s, h) => res.writeHead(s, { ...h, 'content-encoding': 'gzip' }), write: s => { gz.write(s); gz.flush() }, end: s => { if (s) gz.write(s); gz.end() } }
    r.plain()
  },

  'ollama-memory': r => r.refuse(500, openai('model requires more system memory (5.3 GiB) than is available (4.4 GiB)', 'api_error')),

  'ollama-truncates': r => {
    if (tokens(r.body) <= 2048) return r.plain()
    r.case_.log.push({ status: 200, refused: 'the prompt was cut to 2048 tokens without a word' })
    const s = "It looks like you've shared a part of some rules and a list, but I'm not sure exactly what you'd like me to do with them. Could you tell me more?"
    const used = { prompt_tokens: 2048, completion_tokens: 36, total_tokens: 2084 }
    if (!r.req.stream) {
      r.res.writeHead(200, json)
      return r.res.end(JSON.stringify({ id: r.id, object: 'chat.completion', created: 1, model: r.req.model, system_fingerprint: 'fp_ollama', choices: [{ index: 0, message: { role: 'assistant', content: s }, finish_reason: 'stop' }], usage: used }))
    }
    r.begin()
    for (const p of pieces(s, 8)) r.chunk({ role: 'assistant', content: p }, null, { system_fingerprint: 'fp_ollama' })
    r.chunk({ role: 'assistant', content: '' }, 'stop', { system_fingerprint: 'fp_ollama' })
    if (r.req.stream_options?.include_usage) r.data({ id: r.id, object: 'chat.completion.chunk', created: 1, model: r.req.model, system_fingerprint: 'fp_ollama', choices: [], usage: used })
    r.end()
  },

  'llamacpp-context-400': r => {
    if (tokens(r.body) <= 2048) return r.plain()
    r.refuse(400, { error: { code: 400, message: 'the request exceeds the available context size. try increasing the context size or enable context shift', type: 'exceed_context_size_error', n_prompt_tokens: tokens(r.body), n_ctx: 2048 } })
  },

  'mlx-serve-stream-drops': r => {
    if (r.req.tools && r.req.stream) {
      r.case_.log.push({ status: 200, refused: 'a stream without the calls, and without a word' })
      return empty(r, 'stop', { usage: r.req.stream_options?.include_usage ? { prompt_tokens: 4100, completion_tokens: 27, total_tokens: 4127 } : undefined })
    }
    r.plain()
  },

  'newapi-no-channel': r => r.refuse(503, { error: { message: `当前分组 default 下对于模型 ${r.req.model} 无可用渠道 (request id: 2025082215093026624875464905761)`, type: 'new_api_error', code: 'model_not_found' } }),

  'litellm-budget': r => r.refuse(429, { error: { message: 'Budget has been exceeded! Key=e7fbc61f8b495ca3d88994cfa0fda7f1 Current cost: 10.02, Max budget: 10.0', type: 'budget_exceeded', param: null, code: '429' } }),

  'openwebui-405': r => {
    if (r.path === '/api/chat/completions') return r.plain()
    r.refuse(405, { detail: 'Method Not Allowed' }, { allow: 'GET' })
  },

  'website-html-200': r => r.refuse(200, '<!DOCTYPE html><html lang="en-US" data-seo="root"><head><meta charSet="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/><title>Models Example</title>' + '<link rel="preload" as="script" href="/_next/static/chunks/x.js"/>'.repeat(60) + '</head><body><div id="__next"><h1>What can I help with?</h1></div></body></html>', { 'content-type': 'text/html; charset=utf-8' }),

  'cloudflare-403': r => r.refuse(403, '<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title><meta http-equiv="Content-Type" content="text/html; charset=UTF-8"><meta name="robots" content="noindex,nofollow"><style>' + '*{box-sizing:border-box;margin:0;padding:0}'.repeat(40) + '</style></head><body><div class="main-wrapper" role="main"><noscript><div class="h2"><span id="challenge-error-text">Enable JavaScript and cookies to continue</span></div></noscript></div></body></html>', { 'content-type': 'text/html; charset=UTF-8', server: 'cloudflare', 'cf-mitigated': 'challenge', 'cf-ray': '8d49989abc171ce8-FRA' }),

  'together-http-301': r => {
    if (r.path.startsWith('/https/')) return r.plain()
    r.refuse(301, '<html>\r\n<head><title>301 Moved Permanently</title></head>\r\n<body>\r\n<center><h1>301 Moved Permanently</h1></center>\r\n</body>\r\n</html>\r\n', { 'content-type': 'text/html', location: '/together-http-301/https' + r.path })
  },

  'gemini-thinks-it-up': r => {
    const max = bound(r.req)
    if (max !== undefined && max < 4000) {
      r.case_.log.push({ status: 200, refused: `all of ${max} tokens went into thinking` })
      const used = { prompt_tokens: 4100, completion_tokens: max, total_tokens: 4100 + max, completion_tokens_details: { reasoning_tokens: max - 4 } }
      return empty(r, 'length', { deltas: [{ role: 'assistant', content: '', reasoning: '**Considering the request**\n\nThe person wants' }, { content: '', reasoning: ' the open points. Let me weigh' }], usage: used, message: { reasoning: 'Considering the request' } })
    }
    r.plain()
  },

  'lmstudio-ghost-call': r => {
    const calls = next(r.req)
    if (!r.req.tools) return r.plain(calls)
    r.spoke(calls)
    const ghost = { id: '', type: 'function' }
    if (!r.req.stream) return r.whole({ content: '', tool_calls: [...r.calls(calls).map(({ index, ...c }) => c), ghost] }, 'tool_calls')
    r.begin()
    r.chunk({ role: 'assistant' })
    for (const c of r.calls(calls)) {
      r.chunk({ tool_calls: [{ ...c, function: { name: c.function.name, arguments: '' } }] })
      for (const p of pieces(c.function.arguments, 3)) r.chunk({ tool_calls: [{ index: c.index, function: { arguments: p } }] })
    }
    r.chunk({ tool_calls: [{ index: calls.length, ...ghost }] })
    r.chunk({}, 'tool_calls')
    r.end()
  },

  'mtplx-values-in-content': r => {
    const calls = next(r.req)
    if (!r.req.tools || !r.req.stream) return r.plain(calls)
    r.spoke(calls)
    r.begin()
    r.chunk({ role: 'assistant', content: '' })
    for (const p of pieces(calls.map(c => given(c.args).map(([, v]) => String(v)).join('  ')).join(' ') || ' ', 3)) r.chunk({ content: p })
    for (const c of r.calls(calls)) r.chunk({ tool_calls: [c] })
    r.chunk({}, 'tool_calls')
    r.end()
  }
})

// Who follows a redirect as a get is told so.
plays['together-http-301'].get = [405, { error: { message: 'Method not allowed. Only POST requests are supported.', type: 'invalid_request_error', param: null, code: null } }]

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { port } = await serve(Number(process.argv[2] ?? 0))
  console.log(`http://127.0.0.1:${port}/NAME/v1`)
}

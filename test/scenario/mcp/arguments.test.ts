// Every tool of the MCP server with good, bad and foreign arguments, and messages that are not calls (docs/mcp.md).

import { expect, test } from 'vitest'
import { flow, openEngine, openRunner, step, unique, wait } from '../../kit/index.ts'

const SECRET = 'secret-key-of-default'
const KEYS = [
  { label: 'ops', namespace: 'default', kind: 'secret', key: SECRET },
  { label: 'other', namespace: 'other', kind: 'secret', key: 'secret-key-of-other' },
]
const engine = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify(KEYS) } })
const api = engine.api.as(SECRET)
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

interface Tool {
  name: string
  inputSchema: { properties: Record<string, { type?: string }>; required: string[] }
}

interface Reply {
  result?: { tools?: Tool[]; isError?: true; content?: { text: string }[] }
  error?: { code: number; message: string }
}

async function post(message: unknown, { as = api, headers = {}, query = '?write=1' } = {}) {
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  const { status, json } = await as.request('POST', `/mcp${query}`, { body, headers: { ...HEADERS, ...headers } })
  return { status, ...(json as Reply) }
}

const call = (name: string, args: unknown, options = {}) =>
  post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }, options)

const { result } = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
const tools = result?.tools as Tool[]

/** Good arguments by tool, for tools that need them. */
async function goodArguments(): Promise<Record<string, Record<string, unknown>>> {
  const [app, workflow, waiter, paid] = [unique('app'), unique('order'), unique('waiter'), unique('paid')]
  const failing = step('StepRun', 'charge', { error: { message: 'declined' }, retriable: false })
  const runner = await openRunner({
    app,
    workflows: { [workflow]: flow([failing]), [waiter]: flow([wait('paid', paid)]) },
  })
  await runner.register(api)
  const { runId, eventId } = await api.send({ name: workflow, data: 1 })
  await api.reaches(runId, 'failed')
  const waiting = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { runId: id } = await api.send({ name: waiter })
      await api.reaches(id, 'waiting')
      return id
    }),
  )
  const [{ id: stepId }] = (await api.get(`/runs/${runId}/steps`)).json as [{ id: string }]
  const { json: job } = await api.post('/bulk', { action: 'replay', ids: [runId] })
  const { bulkId } = job as { bulkId: string }
  const ofRun = { id: runId }
  const ofEvent = { id: eventId }
  return {
    ...{ get_run: ofRun, explain_run: ofRun, list_run_steps: ofRun, list_run_passes: ofRun, list_run_logs: ofRun },
    ...{ get_run_tree: ofRun, get_run_step: { ...ofRun, stepId }, list_run_signals: { id: waiting[0] } },
    ...{ list_run_streams: ofRun, read_run_stream: { id: waiting[0], name: 'answer' } },
    ...{ get_event: ofEvent, explain_event: ofEvent, get_event_tree: ofEvent, get_bulk: { id: bulkId } },
    ...{ list_definitions: { app, name: workflow }, search_docs: { query: 'retry' }, read_docs: {} },
    ...{ send_event: { name: workflow }, start_run: { app, name: workflow, input: 1 } },
    ...{ signal_run: { id: waiting[0], name: 'hurry', data: 1 }, update_run: { id: waiting[0], name: 'add' } },
    ...{ pause_run: { id: waiting[0] }, cancel_run: { id: waiting[1] }, resume_run: { id: waiting[2] } },
    settle_step: { id: waiting[3], stepId: 'paid', data: 1, reason: 'paid by hand' },
    ...{
      replay_run: ofRun,
      retry_run_from_step: { ...ofRun, step: stepId },
      start_bulk: { action: 'replay', ids: [runId] },
    },
    stop_bulk: { id: bulkId },
  }
}

/** Refusals because of the run's state. The arguments are good too. */
const REFUSED = /^(conflict|not_paused|run_ended|already_ended|invalid_state): /

test('every tool answers good arguments, names bad ones, and finds nothing of another namespace', async () => {
  expect(tools.length).toBeGreaterThan(40)
  expect(JSON.stringify(tools).length).toBeLessThan(60_000)
  const good = await goodArguments()
  await api.post(`/runs/${(good.resume_run as { id: string }).id}/pause`, {})
  const other = engine.api.as('secret-key-of-other')
  for (const { name, inputSchema } of tools) {
    const args = good[name] ?? {}
    expect(Object.keys(args), name).toEqual(expect.arrayContaining(inputSchema.required))
    const foreign = await call(name, args, { as: other })
    if ('id' in args) expect(foreign.result?.content?.[0]?.text, name).toMatch(/^\w*not_found: /)
    const unknown = await call(name, { ...args, nonsense: 1 })
    expect(unknown.result, name).toMatchObject({ isError: true })
    expect(unknown.result?.content?.[0]?.text, name).toContain('"nonsense" is not an argument')
    for (const [member, { type }] of Object.entries(inputSchema.properties)) {
      if (type === undefined) continue
      const bad = await call(name, { ...args, [member]: type === 'object' ? 1 : { nested: true } })
      expect(bad.status, `${name}.${member}`).toBe(200)
      expect(bad.result, `${name}.${member}`).toMatchObject({ isError: true })
      expect(bad.result?.content?.[0]?.text, `${name}.${member}`).toContain(member)
    }
    const { result: answer } = await call(name, args)
    const text = answer?.content?.[0]?.text ?? ''
    expect(answer?.isError && !REFUSED.test(text) ? `${name}: ${text}` : undefined).toBeUndefined()
  }
})

test('what is no call gets its answer', async () => {
  const ping = { jsonrpc: '2.0', id: 7, method: 'ping' }
  expect(await post(ping)).toMatchObject({ status: 200, id: 7, result: {} })
  expect(await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).toEqual({ status: 202 })
  expect(await post({ jsonrpc: '2.0', id: 3, result: {} })).toEqual({ status: 202 })
  const refused: [unknown, number, number][] = [
    ['{"jsonrpc":', 400, -32_700],
    ['\u00ff', 400, -32_700],
    ['['.repeat(1000) + ']'.repeat(1000), 400, -32_700],
    [[ping, ping], 400, -32_600],
    [null, 400, -32_600],
    [{ ...ping, jsonrpc: '1.0' }, 400, -32_600],
    [{ ...ping, method: 5 }, 400, -32_600],
    [{ ...ping, id: { a: 1 } }, 400, -32_600],
    [{ ...ping, params: [] }, 200, -32_602],
    [{ ...ping, method: 'tools/list', params: null }, 200, -32_602],
    [{ ...ping, method: 'resources/list' }, 200, -32_601],
    [{ ...ping, method: 'tools/call', params: { name: 'constructor' } }, 200, -32_602],
    [{ ...ping, method: 'tools/call', params: { name: 'get_run', arguments: 'x' } }, 200, -32_602],
    [{ ...ping, method: 'tools/call', params: {} }, 200, -32_602],
  ]
  for (const [message, status, code] of refused) {
    expect(await post(message), JSON.stringify(message)).toMatchObject({ status, error: { code } })
  }
})

test('a request without a handshake must agree with its headers', async () => {
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_apps', _meta: meta } }
  const list = { ...message, params: { ...message.params, name: 'list_workflows' } }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'list_workflows' }
  expect(await post(list, { headers })).toMatchObject({ status: 200, result: { resultType: 'complete' } })
  expect(await post(message, { headers })).toMatchObject({ status: 400, error: { code: -32_020 } })
  const listing = { ...headers, 'mcp-method': 'tools/list' }
  expect(await post(list, { headers: listing })).toMatchObject({ status: 400, error: { code: -32_020 } })
  const bare = { 'mcp-method': 'tools/call', 'mcp-name': 'list_workflows' }
  expect(await post(list, { headers: bare })).toMatchObject({ status: 400, error: { code: -32_020 } })
  const later = {
    ...list,
    params: { ...list.params, _meta: { ...meta, [Object.keys(meta)[0] as string]: '2031-01-01' } },
  }
  const unsupported = { status: 400, error: { code: -32_022, data: { requested: '2031-01-01' } } }
  expect(await post(later, { headers })).toMatchObject(unsupported)
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  expect(await post(ping, { headers: { 'mcp-protocol-version': '1999-01-01' } })).toMatchObject({ status: 400 })
  expect(await post(ping, { headers })).toMatchObject({ status: 400, error: { code: -32_602 } })
  const removed = { ...ping, params: { _meta: meta } }
  const mirrored = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'ping' }
  expect(await post(removed, { headers: mirrored })).toMatchObject({ status: 404, error: { code: -32_601 } })
})

test('GET and DELETE are refused, and so are pages of other origins', async () => {
  for (const method of ['GET', 'DELETE']) {
    expect((await api.request(method, '/mcp')).status).toBe(405)
  }
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  expect(await post(ping, { headers: { origin: 'https://evil.example' } })).toMatchObject({ status: 403 })
  expect(await post(ping, { headers: { origin: new URL(engine.url).origin } })).toMatchObject({ status: 200 })
})

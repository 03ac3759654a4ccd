// Signals and updates of runs, on both databases; on PostgreSQL sent to an engine other than the one that takes events
// (docs/signals.md).

import { describe, expect, test } from 'vitest'
import {
  flow,
  gate,
  type Handler,
  type Invoke,
  openKeyed,
  openRunner,
  PLACES,
  type Reply,
  run,
  step,
  stepId,
  unique,
  until,
  wait,
} from '../../kit/index.ts'
import { isNight } from '../../part.ts'

/** Each pass carries the results of all earlier ones, so the work grows with the square. */
const SIGNALS = isNight ? 1000 : 100

const FEATURES = { features: ['signals', 'wait-order', 'continue-as'] }
const signal = (name: string, signal = name, fields: object = {}) => step('WaitForSignal', name, { signal, ...fields })
const reply = (name: string, wait: string, fields: object) =>
  step('ReplyToUpdate', name, (_, results) => ({ updateId: (results[wait] as { id: string }).id, ...fields }))
const valuesOf = (results: Record<string, unknown>) =>
  Object.values(results).map(result => (result as { data?: unknown } | null)?.data)

describe.each(PLACES)('on %s', async (_, freshStore, count) => {
  const { api, other } = await openKeyed(freshStore, count)

  async function start(handler: Handler) {
    const name = unique('signalled')
    const runner = await openRunner({ workflows: { [name]: handler } })
    await runner.register(api, FEATURES)
    const { runId } = await api.send({ name })
    const to = (kind: string, name: string, query = '') => `/runs/${runId}/${kind}/${name}${query}`
    return {
      workflow: name,
      runId,
      to,
      signal: (name: string, data?: unknown) => other.post(to('signals', name), { data }),
      update: (name: string, data?: unknown, query = '?wait=20s') => other.post(to('updates', name, query), { data }),
      waits: () => api.reaches(runId, 'waiting'),
    }
  }

  test('before the wait, while it waits and after it: each is taken once, in their order', async () => {
    const opened = gate()
    const {
      runId,
      signal: send,
      waits,
    } = await start(
      flow([run('slow', () => opened.opened), signal('a', 'go'), signal('b', 'go'), signal('c', 'go')], valuesOf),
    )
    expect(await send('go', 1)).toMatchObject({ status: 202, json: { woke: 0 } })
    await send('go', 2)
    opened.open()
    const parked = await waits()
    expect(parked.waitingFor).toEqual({ kind: 'signal', stepName: 'c', signal: 'go' })
    expect(await send('go', 3)).toMatchObject({ status: 202, json: { eventId: expect.any(String), woke: 1 } })
    expect((await api.succeeded(runId)).result).toEqual([null, 1, 2, 3])
    expect(await api.step(runId, 'a')).toMatchObject({
      op: 'WaitForSignal',
      signal: 'go',
      data: { name: 'go', data: 1, id: expect.any(String), receivedAt: expect.any(String) },
    })
    expect(await api.step(runId, 'a')).not.toHaveProperty('eventName')
  })

  test(`${SIGNALS} signals keep their order, sent to every engine in turn, while the run takes them`, async () => {
    const sent = Array.from({ length: SIGNALS }, (_, n) => n)
    const { runId, to } = await start(
      flow(
        sent.map(n => signal(`take ${n}`, 'go')),
        valuesOf,
      ),
    )
    for (const n of sent) await (n % 2 ? other : api).post(to('signals', 'go'), { data: n })
    expect((await api.succeeded(runId)).result).toEqual(sent)
  })

  test('a signal is an event of the log for its run alone', async () => {
    const name = unique('go')
    const other = await start(flow([signal('a', name)]))
    const listening = await start(flow([wait('a', name)]))
    const { runId, signal: send, waits } = await start(flow([signal('a', name)], valuesOf))
    for (const one of [other, listening]) await one.waits()
    await waits()
    expect(await api.send({ name, data: 'an event' })).toMatchObject({ woke: 1 })
    const { eventId } = (await send(name, 'a signal')).json as { eventId: string }
    expect((await api.succeeded(runId)).result).toEqual(['a signal'])
    expect(await api.event(eventId)).toMatchObject({ name, runId, source: 'signal', data: 'a signal', woke: 1 })
    expect((await api.run(other.runId)).status).toBe('waiting')
    for (const query of ['', '?now=1']) {
      const { json } = await api.get(`/events/${eventId}/why${query}`)
      expect(json).toMatchObject({
        name,
        workflows: [],
        sentence: `The signal woke run ${runId}, to which it was sent.`,
      })
    }
    expect(await api.post(`/events/${eventId}/redrive`, { workflow: listening.workflow })).toMatchObject({
      status: 409,
      code: 'conflict',
    })
    const listed = (await api.get(`/events?source=signal&limit=100`)).json as { id: string }[]
    expect(listed.map(({ id }) => id)).toContain(eventId)
    const names = (await api.get(`/event-names?limit=100`)).json as { name: string }[]
    expect(names.some(({ name }) => name.includes(runId))).toBe(false)
  })

  test('a timeout gives null; with since now, an earlier signal does not count', async () => {
    const opened = gate()
    const { runId, signal: send } = await start(
      flow([run('slow', () => opened.opened), signal('a', 'go', { since: 'now', timeoutMs: 50 })]),
    )
    await send('go', 1)
    opened.open()
    expect((await api.succeeded(runId)).result).toMatchObject({ a: null })
    expect(await api.step(runId, 'a')).toMatchObject({ timedOut: true })
  })

  test('names may have slashes; others, unknown runs and ended ones are refused', async () => {
    const { runId, to, signal: send } = await start(flow([signal('a', 'x/y'), signal('b', 'x/y')], valuesOf))
    await api.post(to('signals', 'x%2Fy'), { data: 1 })
    await api.post(to('signals', 'x/y'), { data: 2 })
    expect((await api.succeeded(runId)).result).toEqual([1, 2])
    expect(await send('x/y', 3)).toMatchObject({ status: 409, code: 'run_ended' })
    expect(await api.post(to('updates', 'x/y'))).toMatchObject({ status: 409, code: 'run_ended' })
    expect(await send('a b')).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request', details: { field: 'name' } } },
    })
    expect(await send('x'.repeat(129))).toMatchObject({ status: 400 })
    expect(await api.post('/runs/run_nobody00/signals/x')).toMatchObject({ status: 404, code: 'not_found' })
  })

  test('a dedupe id counts for the run, also for an update and its answer', async () => {
    const { runId, to, waits } = await start(
      flow([signal('a', 'go'), signal('u', 'ask'), reply('r', 'u', { data: 42 }), signal('b', 'end')], valuesOf),
    )
    await waits()
    const send = (kind: string, name: string) => api.post(to(kind, name), { data: 1, dedupeId: 'once' })
    const first = (await send('signals', 'go')).json as { eventId: string }
    expect(await send('signals', 'go')).toMatchObject({
      status: 202,
      json: { eventId: first.eventId, woke: 0, deduped: true },
    })
    const ask = () => api.post(to('updates', 'ask', '?wait=20s'), { dedupeId: 'twice' })
    const answers = await Promise.all([ask(), ask(), ask()])
    const { updateId } = answers[0].json as { updateId: string }
    for (const answer of [...answers, await ask()])
      expect(answer).toMatchObject({ status: 200, json: { updateId, reply: 42 } })
    await api.post(to('signals', 'end'))
    expect((await api.succeeded(runId)).result).toEqual([1, null, null, null])
  })

  test('an update gets its first answer, a rejection or the end of the run', async () => {
    const { runId, to, update, waits } = await start(
      flow([
        signal('a', 'ask'),
        reply('first', 'a', { data: { ok: true } }),
        reply('second', 'a', { data: 'too late' }),
        signal('b', 'ask'),
        reply('no', 'b', { rejected: 'out of stock' }),
        signal('plain', 'ask'),
        reply('nobody', 'plain', { data: 1 }),
        signal('c', 'ask'),
      ]),
    )
    await waits()
    const open = await update('ask', 1, '')
    expect(open).toMatchObject({ status: 202, json: { updateId: expect.any(String) } })
    const { updateId } = open.json as { updateId: string }
    expect(await api.get(to('updates', updateId, '?wait=20s'))).toMatchObject({
      status: 200,
      json: { updateId, reply: { ok: true } },
    })
    expect(await update('ask', 2)).toMatchObject({
      status: 409,
      json: { error: { code: 'rejected', message: 'out of stock' } },
    })
    const sent = (await api.post(to('signals', 'ask'))).json as { eventId: string }
    expect(await api.get(to('updates', sent.eventId))).toMatchObject({ status: 404 })
    expect(await update('ask', 3)).toMatchObject({ status: 409, code: 'run_ended' })
    expect((await api.succeeded(runId)).status).toBe('succeeded')
    expect(await api.get(to('updates', updateId))).toMatchObject({ json: { reply: { ok: true } } })
    expect(await api.get(to('updates', 'evt_nobody'))).toMatchObject({ status: 404 })
  })

  test('the log of a run that ends says how many signals it left, and an erased run leaves no payload', async () => {
    const { runId, signal: send, waits, to } = await start(flow([signal('a', 'end')]))
    await waits()
    const { eventId } = (await send('never', { secret: 1 })).json as { eventId: string }
    await api.post(to('updates', 'ask'))
    const waiting = async () => (await api.get(`/runs/${runId}/signals`)).json as { signals: object[] }
    expect((await waiting()).signals).toMatchObject([
      { eventId, name: 'never', kind: 'signal' },
      { name: 'ask', kind: 'update' },
    ])
    await send('end')
    await api.succeeded(runId)
    expect(await api.logs(runId)).toMatchObject([
      { level: 'warn', message: 'The run ended and left 2 signals that no step has taken.' },
    ])
    expect(await api.event(eventId)).toMatchObject({ data: { secret: 1 } })
    expect((await api.request('DELETE', `/runs/${runId}`)).status).toBe(204)
    expect(await api.event(eventId)).not.toHaveProperty('data')
  })

  /** Takes one signal in each run of a chain, until one says `end`. */
  const relay: Handler = (invoke: Invoke): Reply => {
    const taken = invoke.steps[stepId('a')]
    const opcode = { op: 'WaitForSignal', id: stepId('a'), name: 'a', signal: 'go' }
    if (!taken || taken.pending) return { status: 206, body: { opcodes: taken ? [] : [opcode], logs: [] } }
    const { data } = taken.data as { data: unknown }
    const seen = [...((invoke.event.data as unknown[] | undefined) ?? []), data]
    if (data === 'end') return { status: 200, body: { data: seen, logs: [] } }
    return { status: 200, body: { continueAs: { data: seen }, logs: [] } }
  }

  test('a chain takes every signal, in their order, and is followed by the id of its first run', async () => {
    const { runId, signal: send, update } = await start(relay)
    const sent = Array.from({ length: 20 }, (_, n) => n)
    for (const n of sent) expect(await send('go', n)).toMatchObject({ status: 202 })
    const asked = update('go', 'asked')
    await until(async () => (await api.get(`/events?source=update&limit=1`)).text.includes('asked') || undefined)
    await send('go', 'end')
    const last = await until(async () => {
      const { runId: newest, status, result } = (await api.get(`/runs/${runId}/result`)).json as Record<string, unknown>
      return status === 'succeeded' ? { newest, result } : undefined
    })
    expect(last.newest).not.toBe(runId)
    expect(last.result).toEqual([...sent, 'asked', 'end'])
    expect(await asked).toMatchObject({ status: 409, code: 'run_ended' })
    expect(await send('go')).toMatchObject({ status: 409, code: 'run_ended' })
  })

  test('a signal in the moment of the end is taken or refused, never both and never neither', async () => {
    for (let i = 0; i < 10; i++) {
      const { runId, signal: send, waits } = await start(flow([signal('a', 'go')], valuesOf))
      await waits()
      const answers = await Promise.all(Array.from({ length: 5 }, (_, n) => send('go', n)))
      const taken = answers.filter(({ status }) => status === 202)
      expect(answers.every(({ status, code }) => status === 202 || code === 'run_ended')).toBe(true)
      const { result } = await api.succeeded(runId)
      const left = taken.length - 1
      const lines = (await api.logs(runId)).map(({ message }) => message)
      const word = left === 1 ? 'signal' : 'signals'
      expect(lines).toEqual(left === 0 ? [] : [`The run ended and left ${left} ${word} that no step has taken.`])
      expect(answers[(result as number[])[0] as number]?.status).toBe(202)
    }
  })
})

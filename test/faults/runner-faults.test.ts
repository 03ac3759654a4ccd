// Runners that hang, break, send garbage or answer too late: the pass is repeated or the run fails, and no part of an incomplete
// answer is kept (docs/concepts.md#failures).

import { describe, expect, test } from 'vitest'
import {
  cut,
  discovered,
  flow,
  gate,
  type Handler,
  hang,
  opcode,
  plain,
  type Reply,
  reset,
  returned,
  run,
  scenario,
  skipWait,
  unique,
  until,
  waitsFor,
  within,
} from '../kit/index.ts'

const MIB = 1024 * 1024
const { api, barrier, clock, start, engine, workflow } = await scenario()

/**
 * Starts a run whose passes have 150 ms from pass `hurried` on, until `relax`. Deadlines run on real time, and on a busy machine
 * a pass that should succeed needs more.
 */
async function startHurried(hurried: number, handler: Handler) {
  const { name, runner, record } = await workflow(async (invoke, record) => {
    if (invoke.pass === hurried - 1) await setDeadline('150ms')
    return handler(invoke, record)
  })
  const setDeadline = (invoke: string) => runner.register(api, { workflows: [{ name, timeouts: { invoke } }] })
  if (hurried === 1) await setDeadline('150ms')
  const { runId } = await api.send({ name })
  const relax = async () => {
    await waitsFor(api, runId, 'retry')
    await setDeadline('1h')
  }
  return { runId, record, relax }
}

/** Sends 200, then endlessly a byte of the body at intervals. */
const drip: Reply = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.write(' '), 20)
  response.on('close', () => clearInterval(timer))
}

/** Sends the headers and nothing else. */
const headersOnly: Reply = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
}

/** Sends bytes that are not HTTP. */
const noHttp: Reply = request => {
  request.socket.end('SSH-2.0-OpenSSH_9.6\r\n')
}

const FAULTS: [string, Reply][] = [
  ['hangs past timeouts.invoke', hang],
  ['sends headers and hangs', headersOnly],
  ['drips its body past timeouts.invoke', drip],
  ['resets before headers', reset],
  ['resets in the middle of the body', cut],
  ['answers 500', { status: 500, body: { error: { message: 'oops' }, logs: [] } }],
  ['answers 502 in HTML', plain(502, '<html>bad gateway</html>', 'text/html')],
  ['answers 200 with garbage', plain(200, Buffer.from([0, 1, 2, 0xff, 0xfe]))],
  ['answers 206 with half a JSON', plain(206, '{"opcodes":[{"op":"StepRun"')],
  ['speaks another protocol', noHttp],
]

describe.each(FAULTS)('a runner that %s', (_what, fault) => {
  test('costs one try: the pass is repeated and the step executed once', async () => {
    const steps = flow([run('first'), run('second')])
    const { runId, record, relax } = await startHurried(2, (invoke, record) =>
      invoke.pass === 2 ? fault : steps(invoke, record),
    )
    await relax()
    const ms = await skipWait(api, clock, runId, 'retry')
    expect(ms).toBeGreaterThanOrEqual(400)
    expect(ms).toBeLessThanOrEqual(600)
    expect(await api.succeeded(runId)).toMatchObject({
      attempt: 2,
      result: { first: 'first', second: 'second' },
    })
    expect(record.names(runId)).toEqual(['first', 'second'])
    expect(record.of(runId).map(({ ctx }) => ctx.attempt)).toEqual([1, 1, 2, 2])
    // The repeated pass carries the same memo as the lost one.
    expect(record.of(runId)[2]?.steps).toEqual(record.of(runId)[1]?.steps)
  })
})

describe('late answers', () => {
  test('an answer after timeouts.invoke is not read: its connection is closed, its steps are not stored', async () => {
    const late = gate()
    const { runId, record, relax } = await startHurried(1, async ({ pass }) => {
      if (pass > 1) return returned('in time')
      await late.opened
      return discovered([opcode('StepRun', 'late', { data: 'late' })])
    })
    await until(() => record.passes(runId) === 1)
    const { signal } = record.of(runId)[0] as { signal: AbortSignal }
    await until(() => signal.aborted, { what: 'the end of the connection' })
    await relax()
    late.open()
    await barrier()
    expect(await api.steps(runId)).toEqual([])
    await skipWait(api, clock, runId, 'retry')
    expect(await api.succeeded(runId)).toMatchObject({ result: 'in time', attempt: 2 })
  })

  test('a slow answer within the deadline is accepted', async () => {
    const slow = gate()
    const { runId, record } = await start(
      async () => {
        await slow.opened
        return returned('slow')
      },
      { registration: { timeouts: { invoke: '1h' } } },
    )
    await until(() => record.passes(runId) === 1)
    // Far beyond the lease of 15 s, which the engine extends.
    for (let i = 0; i < 10; i++) {
      clock.jump(6000)
      await barrier()
    }
    slow.open()
    expect(await api.succeeded(runId)).toMatchObject({ result: 'slow', attempt: 1 })
    expect(record.passes(runId)).toBe(1)
  })
})

describe('the response cap of 1 MiB', () => {
  const padded = (head: string, tail: string, bytes: number) =>
    `${head}${'x'.repeat(bytes - Buffer.byteLength(head) - Buffer.byteLength(tail))}${tail}`

  test('a response of exactly 1 MiB is accepted', async () => {
    const text = padded('{"data":"', '","logs":[]}', MIB)
    const { runId } = await start(() => ({ status: 200, text }))
    const { result } = await api.succeeded(runId)
    expect(result).toHaveLength(MIB - 21)
  })

  test.each([200, 206, 500])('a %i over the cap fails the invoke: nothing of the answer is kept', async status => {
    const opcode = '{"opcodes":[{"op":"StepRun","id":"a","name":"a","data":"'
    const text = padded(opcode, '"}],"logs":[]}', MIB + 1)
    const { runId, record } = await start(() => ({ status, text }))
    const { error, attempt } = await api.failed(runId)
    expect(error).toMatchObject({ code: 'response_too_large' })
    expect(attempt).toBe(1)
    expect(record.passes(runId)).toBe(1)
    expect(await api.steps(runId)).toEqual([])
  })

  test('an endless response is cut off, not collected', async () => {
    let sent = 0
    const { runId } = await start(() => (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const chunk = Buffer.alloc(64 * 1024, 'x')
      const push = () => {
        while (!response.destroyed && sent < 256 * MIB) {
          sent += chunk.length
          if (!response.write(chunk)) return
        }
      }
      response.on('drain', push)
      push()
    })
    expect((await api.failed(runId)).error?.code).toBe('response_too_large')
    expect(sent).toBeLessThan(64 * MIB)
  })
})

describe('other runs are not touched', () => {
  test('a hundred hanging invokes do not hold up a run beside them', async () => {
    const stuck = unique('stuck')
    await engine.runner({ workflows: { [stuck]: () => hang } })
    const hanging = await Promise.all(Array.from({ length: 100 }, () => api.send({ name: stuck })))
    const { runId } = await start(flow([run('a'), run('b')]))
    await within(api.succeeded(runId), 'the run beside them')
    await Promise.all(hanging.map(({ runId }) => api.post(`/runs/${runId}/cancel`)))
  })

  test("a run whose every answer breaks the engine's rules fails alone", async () => {
    const { name } = await workflow(({ event }) =>
      event.data === 'bad' ? plain(206, '{"opcodes":[{"op":1}]}') : returned('good'),
    )
    const runs = await Promise.all(
      Array.from({ length: 20 }, (_, i) => api.send({ name, data: i % 2 ? 'bad' : 'good' })),
    )
    for (const [i, { runId }] of runs.entries()) await api.reaches(runId, i % 2 ? 'failed' : 'succeeded')
  })
})

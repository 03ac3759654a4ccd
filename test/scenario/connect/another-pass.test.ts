// Runners that ask for another pass of a run, over HTTP and Connect (docs/wire-protocol.md#another-pass): the rules of the
// engine. The use of it by the SDK is in test/scenario/sdk/late-steps.test.ts.

import { describe, expect, test } from 'vitest'
import { discovered, type Invoke, opcode, RunnerRecord, returned, scenario, unique, until } from '../../kit/index.ts'
import { dial } from '../../kit/runner/connect-client.ts'
import { postReport } from '../../kit/runner/pass-reports.ts'
import { PlainRunner } from '../../kit/runner/plain-runner.ts'

const { api, url, clock, barrier } = await scenario()

/** A run that waits for an event, on a runner that requests passes over this transport. Its passes report only the wait. */
const RUNNERS = {
  async HTTP(name: string, features: string[] = ['another-pass']) {
    const workflows = { [name]: () => discovered([opcode('WaitForEvent', 'wait', { eventName: `${name}.go` })]) }
    const runner = await new PlainRunner({ app: name, workflows }).listen()
    await runner.register(api, { features })
    const ask = (invoke: Invoke, fields: object) =>
      postReport(invoke.ctx.checkpointUrl as string, JSON.stringify({ again: true, ...fields })).then(
        ({ status, body }) => (status === 200 ? 'acknowledged' : body.error.code),
      )
    return { record: runner.record, ask }
  },
  async Connect(name: string) {
    const record = new RunnerRecord()
    const client = await dial(url)
    client.serve({ [name]: () => discovered([opcode('WaitForEvent', 'wait', { eventName: `${name}.go` })]) }, record)
    await client.register({ app: name, workflows: [name], features: ['another-pass'] })
    const ask = async (invoke: Invoke, fields: object) => {
      const id = client.send('invoke.again', { runId: invoke.ctx.runId, ...fields })
      const answer = await until(() => client.frames.find(frame => frame.id === id))
      return answer.type === 'again.ack' ? 'acknowledged' : answer.payload.code
    }
    return { record, ask }
  },
}

async function parked(over: keyof typeof RUNNERS) {
  const name = unique('again')
  const { record, ask } = await RUNNERS[over](name)
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'waiting')
  const [invoke] = record.of(runId) as [Invoke]
  const passes = (count: number) => until(() => record.of(runId).length === count, { what: `pass ${count}` })
  return { name, runId, record, invoke, ask: (fields = {}) => ask(invoke, fields), passes }
}

describe.each(Object.keys(RUNNERS) as (keyof typeof RUNNERS)[])('over %s', over => {
  test('a parked run gets another pass, which spends no attempt', async () => {
    const { runId, ask, passes, record } = await parked(over)
    expect(await ask({ settled: 0 })).toBe('acknowledged')
    await passes(2)
    await api.reaches(runId, 'waiting')
    expect(record.of(runId)[1]?.ctx.attempt).toBe(1)
  })

  test('a run that gained no step by the last pass waits for the next one, longer each time', async () => {
    const { runId, ask, passes, record } = await parked(over)
    for (let count = 2; count < 10; count++) {
      await ask()
      clock.jump(60_000)
      await passes(count)
      await api.reaches(runId, 'waiting')
    }
    await ask()
    await barrier()
    expect(record.of(runId)).toHaveLength(9)
    clock.jump(60_000)
    await passes(10)
  })

  test('a run that has moved on since is left alone', async () => {
    const { name, runId, ask, passes, record } = await parked(over)
    await api.send({ name: `${name}.go` })
    await passes(2)
    await api.failed(runId)
    expect(await ask({ settled: 0 })).toBe('acknowledged')
    const paused = await parked(over)
    await api.post(`/runs/${paused.runId}/pause`)
    expect(await paused.ask()).toBe('acknowledged')
    await barrier()
    expect([record.of(runId).length, paused.record.of(paused.runId).length]).toEqual([2, 1])
    expect(await api.run(paused.runId)).toMatchObject({ status: 'paused' })
  })

  test('a number of steps that is none is refused', async () => {
    const { ask } = await parked(over)
    expect(await ask({ settled: -1 })).toBe('invalid_request')
  })
})

test('a runner that names neither feature gets no token, and one that names the new feature gets one', async () => {
  const name = unique('again')
  const { record } = await RUNNERS.HTTP(name, [])
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'waiting')
  expect(record.of(runId)[0]?.ctx).not.toHaveProperty('checkpointToken')
  expect((await parked('HTTP')).invoke.ctx.checkpointToken).toBeTypeOf('string')
})

test('a Connect runner gives no pass to a run of another app', async () => {
  const { runId, record } = await parked('Connect')
  const other = await RUNNERS.Connect(unique('other'))
  expect(await other.ask({ ctx: { runId } } as Invoke, {})).toBe('acknowledged')
  await barrier()
  expect(record.of(runId)).toHaveLength(1)
})

test('a request that comes before the answer of its pass is stored waits for it', async () => {
  const name = unique('again')
  const invokes: Invoke[] = []
  let answered: Promise<unknown> = Promise.resolve()
  const workflows = {
    [name]: (invoke: Invoke) => {
      invokes.push(invoke)
      if (invokes.length > 1) return returned('done')
      answered = postReport(invoke.ctx.checkpointUrl as string, '{"again":true,"settled":0}')
      return discovered([opcode('Sleep', 'long', { sleepMs: 3_600_000 })])
    },
  }
  const runner = await new PlainRunner({ app: name, workflows: workflows as never }).listen()
  await runner.register(api, { features: ['another-pass'] })
  const { runId } = await api.send({ name })
  await api.succeeded(runId)
  expect(await answered).toMatchObject({ status: 200, body: { again: true } })
})

// kill -9 of an engine with hundreds of invokes on Connect sockets: no run is lost, and no step runs again after a later pass has
// carried its result.

import { expect, test } from 'vitest'
import { flow, gate, RunnerRecord, run, startEngine, until } from '../kit/index.ts'
import { type ConnectClient, dial } from '../kit/runner/connect-client.ts'

const RUNS = 300
const NAME = 'killed'

test(`${RUNS} invokes in flight`, async () => {
  const engine = await startEngine()
  const { api } = engine
  const record = new RunnerRecord()
  const killed = gate()
  const handler = flow([
    run('one'),
    run('two', async () => {
      await killed.opened
      return 'two'
    }),
    run('three'),
  ])
  const connect = async (): Promise<ConnectClient> => {
    const client = await dial(engine.url)
    client.serve({ [NAME]: handler }, record)
    await client.register({ app: NAME, runner: 'r', workflows: [NAME] })
    return client
  }
  await connect()
  const runIds: string[] = []
  for (let i = 0; i < RUNS; i += 100) {
    const sent = await Promise.all(Array.from({ length: 100 }, () => api.send({ name: NAME })))
    runIds.push(...sent.map(({ runId }) => runId))
  }
  const atTwo = () => record.executed.filter(({ name }) => name === 'two').length
  await until(() => atTwo() === RUNS, { what: 'every run at its second step' })
  await engine.kill9()
  await engine.start()
  await connect()
  killed.open()
  for (const runId of runIds) {
    expect(await api.succeeded(runId)).toMatchObject({ result: { one: 'one', two: 'two', three: 'three' } })
  }
  for (const { runId, id, pass, name } of record.executed) {
    const wasShown = record.of(runId).some(invoke => invoke.pass < pass && invoke.steps[id] !== undefined)
    expect(wasShown, `${name} of ${runId}`).toBe(false)
  }
  expect(record.executed.filter(({ name }) => name === 'one')).toHaveLength(RUNS)
})

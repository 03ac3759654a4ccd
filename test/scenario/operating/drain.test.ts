// A shutdown while invokes are in flight: either their results are kept, or they are released at no cost to the run.

import { describe, expect, test } from 'vitest'
import { flow, gate, run, sleep, startEngine, unique, until } from '../../kit/index.ts'

describe('SIGTERM', () => {
  test("while an invoke hangs: /readyz is 503 draining, the invoke's result is kept, the next engine goes on", async () => {
    const engine = await startEngine()
    const [name, held] = [unique('work'), gate()]
    const runner = await engine.runner({
      workflows: { [name]: flow([run('slow', () => held.opened), run('after')]) },
    })
    const { runId } = await engine.api.send({ name })
    await until(() => runner.record.times(runId, 'slow') === 1)

    engine.signal('SIGTERM')
    const draining = await until(async () => {
      const answer = await engine.api.get('/readyz')
      return answer.status === 503 && answer
    })
    expect(draining.json).toEqual({ status: 'not_ready', checks: { store: 'ok' }, draining: true })
    expect(await engine.api.get('/healthz')).toMatchObject({ status: 200 })

    held.open()
    expect(await engine.exit).toMatchObject({ code: 0, signal: null })
    expect(runner.record.passes(runId)).toBe(1)

    await engine.restart()
    await engine.api.succeeded(runId)
    expect(runner.record.names(runId)).toEqual(['slow', 'after'])
    expect((await engine.api.run(runId)).attempt).toBe(1)
  })

  test('an invoke that outlasts the drain timeout is given back: nothing spent, no run ended', async () => {
    const engine = await startEngine({ env: { ENGINE_DRAIN_TIMEOUT: '200ms' } })
    const name = unique('work')
    let hanging = true
    const runner = await engine.runner({
      workflows: { [name]: flow([run('stuck', () => (hanging ? gate().opened : 'free')), sleep('nap', 1)]) },
    })
    const { runId } = await engine.api.send({ name })
    await until(() => runner.record.times(runId, 'stuck') === 1)
    // As a closed terminal does.
    engine.signal('SIGHUP')
    expect(await engine.exit).toMatchObject({ code: 0 })
    hanging = false
    await engine.start()
    expect(await engine.api.succeeded(runId)).toMatchObject({ attempt: 1, result: { stuck: 'free' } })
  })
})

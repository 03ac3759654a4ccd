// The probes, and a shutdown that loses nothing (§4.7; decisions "Configuration"). Real processes: signals are.

import { describe, expect, test } from 'vitest'
import { AT, signalsItself } from '../../kit/engine/self-signal.ts'
import {
  flow,
  gate,
  openEngine,
  perdure,
  run,
  serveToTheEnd,
  sleep,
  startEngine,
  tempStoreFile,
  unique,
  until,
  within,
} from '../../kit/index.ts'

describe('probes (§4.7)', () => {
  test('/healthz is 200 ok, /readyz 200 ready with the store probed and nothing in process listed', async () => {
    const { api } = await openEngine()
    expect(await api.get('/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } })
    expect(await api.get('/readyz')).toMatchObject({
      status: 200,
      text: '{"status":"ready","checks":{"store":"ok"}}',
    })
  })

  test('they are not written to the request log', async () => {
    const { api, log } = await openEngine({ env: { ENGINE_LOG_LEVEL: 'trace' } })
    for (let i = 0; i < 3; i++) await Promise.all([api.get('/healthz'), api.get('/readyz')])
    expect(log.filter(line => line.includes('healthz') || line.includes('readyz'))).toEqual([])
  })
})

describe('SIGTERM', () => {
  test.each([
    ['as the banner is printed', AT.print],
    ['before it listens', AT.listen],
  ])('%s: the engine begins, drains and ends in order', async (_, moment) => {
    const exit = await serveToTheEnd({ env: { ENGINE_LOG_LEVEL: 'info', ...signalsItself(moment) } })
    expect(exit).toMatchObject({ code: 0, signal: null })
    expect(exit.stdout).toContain('perdure listens on')
    expect(exit.stderr).toContain('draining')
  })

  test('as the first line of `perdure dev` is printed: it begins, and ends in order', async () => {
    const env = { ENGINE_ENCRYPTION_KEY: 'k'.repeat(32), ...signalsItself(AT.print) }
    const exit = await perdure(['dev', '--port', '0', '--store', `sqlite:${tempStoreFile()}`], { env })
    expect(exit).toMatchObject({ code: 0, signal: null })
    expect(exit.stdout).toMatch(/perdure listens on.*ending/s)
  })

  test("while an invoke hangs: /readyz is 503 draining, the invoke's result is kept, the next engine goes on", async () => {
    const engine = await startEngine()
    const [name, held] = [unique('work'), gate()]
    const runner = await engine.runner({
      workflows: { [name]: flow([run('slow', () => held.opened), run('after')]) },
    })
    const { runId } = await engine.api.send({ name })
    await until(() => runner.ledger.times(runId, 'slow') === 1)

    engine.signal('SIGTERM')
    const draining = await until(async () => {
      const answer = await engine.api.get('/readyz')
      return answer.status === 503 && answer
    })
    expect(draining.json).toEqual({ status: 'not_ready', checks: { store: 'ok' }, draining: true })
    expect(await engine.api.get('/healthz')).toMatchObject({ status: 200 })

    held.open()
    expect(await engine.exit).toMatchObject({ code: 0, signal: null })
    expect(runner.ledger.passes(runId)).toBe(1)

    await engine.restart()
    await engine.api.succeeded(runId)
    expect(runner.ledger.names(runId)).toEqual(['slow', 'after'])
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
    await until(() => runner.ledger.times(runId, 'stuck') === 1)
    expect(await engine.sigterm()).toMatchObject({ code: 0 })
    hanging = false
    await engine.start()
    expect(await engine.api.succeeded(runId)).toMatchObject({ attempt: 1, result: { stuck: 'free' } })
  })

  test('runs that wait are left as they are', async () => {
    const engine = await startEngine()
    const name = unique('work')
    await engine.runner({ workflows: { [name]: flow([sleep('long', 3_600_000)]) } })
    const { runId } = await engine.api.send({ name })
    const parked = await engine.api.reaches(runId, 'waiting')
    expect(await engine.sigterm()).toMatchObject({ code: 0 })
    await engine.start()
    expect(await engine.api.run(runId)).toEqual(parked)
  })

  test('SIGINT drains alike; streams are ended in order', async () => {
    const engine = await startEngine()
    const name = unique('work')
    await engine.runner({ workflows: { [name]: flow([sleep('long', 3_600_000)]) } })
    const { runId } = await engine.api.send({ name })
    const parked = gate()
    const reading = engine.api.stream(runId, {
      stopWhen: messages => {
        if (messages.at(-1)?.data.status === 'waiting') parked.open()
        return false
      },
    })
    await within(parked.opened, 'the frame of the parked run')
    engine.signal('SIGINT')
    expect(await engine.exit).toMatchObject({ code: 0 })
    expect((await reading).messages.at(-1)?.data).toMatchObject({ status: 'waiting' })
  })
})

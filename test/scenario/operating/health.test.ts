// The probes, and the effect of signals on an engine process (docs/operating.md#shutdown). Invokes in flight at a shutdown are in
// drain.test.ts.

import { describe, expect, test } from 'vitest'
import { AT, signalsItself } from '../../kit/engine/self-signal.ts'
import {
  flow,
  gate,
  openEngine,
  perdure,
  serveToTheEnd,
  sleep,
  startEngine,
  tempStoreFile,
  unique,
  within,
} from '../../kit/index.ts'

describe('probes', () => {
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

  test('SIGINT drains alike: streams are ended in order, and runs that wait are left as they are', async () => {
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
    const waiting = await engine.api.run(runId)
    engine.signal('SIGINT')
    expect(await engine.exit).toMatchObject({ code: 0 })
    expect((await reading).messages.at(-1)?.data).toMatchObject({ status: 'waiting' })
    await engine.restart()
    expect(await engine.api.run(runId)).toEqual(waiting)
  })
})

// A Connect runner without an id at two engines: it stays registered while its socket is open, whatever the engine without the
// socket knows.

import { expect, test } from 'vitest'
import { RELAY_TICK_MS } from '../../../packages/engine/src/adapters/connect/relay/tick.ts'
import { freshSchema, JumpClock, openEngine, unique, until } from '../../kit/index.ts'
import { dialAs } from '../../kit/runner/connect-client.ts'

const STALE_MS = 90_000

async function twoEngines(other: Record<string, string>) {
  const storeFile = await freshSchema()
  const clocks = [new JumpClock(), new JumpClock()] as const
  const here = await openEngine({ storeFile, clock: clocks[0] })
  const there = await openEngine({ storeFile, clock: clocks[1], env: other })
  const name = unique('kept')
  await dialAs(here.url, { app: name, workflows: [name] })
  const isListed = async ({ api }: typeof here) => (await api.get('/runners')).text.includes(name)
  const isWarned = () => here.log.some(line => line.includes('had removed a runner'))
  return { here, there, clocks, name, isListed, isWarned }
}

test('an engine that was frozen does not remove it', async () => {
  const { there, clocks, isListed, isWarned } = await twoEngines({})
  await until(() => isListed(there))
  // It misses announcements of the other engine.
  await until(async () => {
    clocks[1].jump(RELAY_TICK_MS)
    return !(await isListed(there))
  })
  for (let freeze = 0; freeze < 3; freeze++) {
    // It reads the catalog before it has a message from the other engine.
    clocks[1].jump(STALE_MS + 10_000)
    for (let poll = 0; poll < 10; poll++) await isListed(there)
  }
  // The other engine announces its sockets at its regular time.
  await until(() => {
    clocks[0].jump(RELAY_TICK_MS)
    return isListed(there)
  })
  expect(isWarned()).toBe(false)
})

test('an engine that hears of no socket removes it, and the engine with the socket registers it again', async () => {
  const { here, there, clocks, isListed, isWarned } = await twoEngines({ ENGINE_QUEUE: 'memory' })
  await until(async () => {
    for (const clock of clocks) clock.jump(16_000)
    return isWarned()
  })
  await until(() => isListed(here))
  expect(there.takeErrors()).toEqual([])
})

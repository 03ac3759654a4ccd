// Engines whose clocks differ (docs/operating.md#clocks): a wait looks back by log position, not by time.

import { expect, test } from 'vitest'
import { flow, freshSchema, gate, JumpClock, openEngine, run, unique, until, wait } from '../../kit/index.ts'

const RUNS = 20
const START = Date.UTC(2031, 4, 20, 12)

test('no wait misses an event that came at an engine whose clock is behind by an hour', async () => {
  const env = { ENGINE_QUEUE: 'memory' }
  const ahead = await openEngine({ storeFile: await freshSchema(), clock: new JumpClock(START), env })
  const behind = await openEngine({ storeFile: ahead.storeFile, clock: new JumpClock(START - 3_600_000), env })
  const [name, eventName, held] = [unique('workflow'), unique('go'), gate()]
  const runner = await ahead.runner({
    workflows: { [name]: flow([run('first', () => held.opened), wait('go', eventName)]) },
  })
  const started = await Promise.all(Array.from({ length: RUNS }, () => ahead.api.send({ name })))
  await until(() => runner.record.executed.length === RUNS)
  const { eventId } = await behind.api.send({ name: eventName })
  held.open()
  for (const { runId } of started)
    expect(await ahead.api.succeeded(runId)).toMatchObject({ result: { go: { id: eventId } } })
})

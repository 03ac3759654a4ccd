// The load of runners: sums over engines, the rate of the last minute, and a bounded percentile.

import { expect, it } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import type { Bus } from '../../ports/bus.ts'
import { RunnerLoad } from './runner-load.ts'

const runner: Runner = { namespace: 'n', app: 'a', runnerId: 'r', url: 'http://r', workflows: [], lastSeenAt: 0 }

/** Two ends of a bus. */
function buses(): [Bus, Bus] {
  const handlers: ((text: string, from: string) => void)[][] = [[], []]
  const end = (own: number): Bus => ({
    self: `e${own}`,
    on: (_, handle) => void handlers[own]?.push(handle),
    onReconnect: () => {},
    publish: (_, text) => {
      for (const handle of handlers[1 - own] ?? []) handle(text, `e${own}`)
    },
    close: async () => {},
  })
  return [end(0), end(1)]
}

it('counts passes under way, those of the last minute, failures and the percentile', async () => {
  const clock = new VirtualClock()
  const load = new RunnerLoad({ clock, bus: undefined })
  expect(load.of(runner)).toBeUndefined()
  for (let i = 1; i <= 100; i++) {
    load.began(runner)
    load.ended(runner, i)
  }
  load.began(runner)
  load.began(runner)
  load.ended(runner, 7, 'it did not answer')
  expect(load.of(runner)).toMatchObject({
    inFlight: 1,
    passesPerMin: 101,
    p95Ms: 95,
    failures: 1,
    lastFailure: { message: 'it did not answer' },
  })
  await clock.advance(150_000)
  expect(load.of(runner)).toMatchObject({ inFlight: 1, passesPerMin: 0, failures: 1 })
})

it('sums over engines, and forgets an engine that is silent', async () => {
  const clock = new VirtualClock()
  const [one, two] = buses()
  const [here, there] = [new RunnerLoad({ clock, bus: one }), new RunnerLoad({ clock, bus: two })]
  here.began(runner)
  there.began(runner)
  there.began(runner)
  there.ended(runner, 40, 'refused')
  there.start()
  await clock.advance(5000)
  expect(here.of(runner)).toMatchObject({ inFlight: 2, passesPerMin: 1, p95Ms: 40, failures: 1 })
  await there.stop()
  await clock.advance(16_000)
  expect(here.of(runner)).toMatchObject({ inFlight: 1, failures: 0 })
})

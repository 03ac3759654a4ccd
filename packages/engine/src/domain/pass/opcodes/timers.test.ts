// Sleeps and deadlines: when a timer is set, when it ends, and what wakes the run (docs/wire-protocol.md#opcodes).

import { describe, expect, it } from 'vitest'
import { given } from '../../testkit/given.testkit.ts'
import { DAY, NOW, reported, run, sleeps, sleepsUntil } from '../../testkit/nouns.testkit.ts'

describe('a Sleep', () => {
  it.each([25 * DAY, 100 * 365 * DAY])(
    'of %i ms, beyond what one timer of the platform can do, is kept exactly',
    ms => {
      const parked = given(run()).when(reported(sleeps('nap', ms)))
      expect(parked.run.availableAt).toBe(NOW + ms)
      const early = parked.leasedAgain(NOW + ms - 1).whenLeased()
      expect(early.step('nap').status).toBe('waiting')
      const due = parked.leasedAgain(NOW + ms).whenLeased()
      expect(due.step('nap').status).toBe('succeeded')
    },
  )
})

describe('a SleepUntil', () => {
  it.each([1e20, -1e20, 8.64e15])('to %d, a time no timestamp can say, is held within those that can', target => {
    const { wakeAt } = given(run())
      .when(reported(sleepsUntil('doomsday', target)))
      .step('doomsday')
    expect(new Date(wakeAt as number).toISOString()).toMatch(/^\d{4}-/)
  })
})

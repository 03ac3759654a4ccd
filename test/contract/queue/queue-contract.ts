// The promises of every Queue adapter. Each adapter's test file opens one and calls this.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../packages/engine/src/adapters/clock/virtual.ts'
import type { Queue } from '../../../packages/engine/src/ports/queue.ts'
import type { Lane } from '../../../packages/engine/src/ports/store.ts'

export interface OpenQueue {
  queue: Queue
  /** Resolves when pending wake-ups have arrived. For adapters that use a network. */
  settle?(): Promise<void>
  close(): Promise<void>
}

const START = 1_000_000
const FAR = START + 1e12
export const never = new AbortController().signal

export function queueContract(name: string, open: (clock: VirtualClock) => Promise<OpenQueue>): void {
  describe(`queue contract: ${name}`, () => {
    let clock: VirtualClock
    let opened: OpenQueue
    let queue: Queue

    beforeEach(async () => {
      clock = new VirtualClock({ start: START })
      opened = await open(clock)
      queue = opened.queue
    })
    afterEach(() => opened.close())

    /** Starts a wait, and records whether it is over. */
    const wait = (lane: Lane, until = FAR, signal = never) => {
      const state = { over: false }
      const promise = queue.wait(lane, until, signal).then(() => {
        state.over = true
      })
      return { state, promise }
    }
    const pass = async (ms: number) => {
      await opened.settle?.()
      await clock.advance(ms)
    }
    /** Checks that the wait ends after this time, and not a millisecond earlier. */
    const endsIn = async (ms: number, { promise, state }: ReturnType<typeof wait>) => {
      await pass(ms - 1)
      expect(state.over).toBe(false)
      await pass(1)
      await promise
    }

    describe('a wake-up', () => {
      it('ends a wait at once', async () => {
        const { promise, state } = wait('runs')
        await pass(0)
        expect(state.over).toBe(false)
        queue.wake('runs', START)
        await promise
        expect(clock.now()).toBe(START)
      })

      it('is remembered without a wait, once', async () => {
        queue.wake('runs', START)
        queue.wake('runs', START - 50)
        await pass(0)
        await wait('runs').promise
        await endsIn(10, wait('runs', START + 10))
      })

      it('reaches its own lane only', async () => {
        const runs = wait('runs', START + 10)
        const deliveries = wait('deliveries', START + 10)
        queue.wake('deliveries', START)
        await deliveries.promise
        await pass(0)
        expect(runs.state.over).toBe(false)
        await pass(10)
        await runs.promise
      })

      it('ends every wait of the lane', async () => {
        const waits = [wait('runs'), wait('runs'), wait('runs')]
        await pass(0)
        queue.wake('runs', START)
        await Promise.all(waits.map(({ promise }) => promise))
      })

      it('may come from a burst', async () => {
        for (let i = 0; i < 1000; i++) queue.wake('runs', START)
        await wait('runs').promise
        await endsIn(1, wait('runs', START + 1))
      })
    })

    describe('a future wake-up', () => {
      it('comes at its time, not before', async () => {
        queue.wake('runs', START + 100)
        await endsIn(100, wait('runs'))
      })

      it('reaches a wait that began before it', async () => {
        const waiting = wait('runs')
        await pass(0)
        queue.wake('runs', START + 100)
        await endsIn(100, waiting)
      })

      it('still comes after an earlier one that was added later', async () => {
        const first = wait('runs')
        queue.wake('runs', START + 300)
        queue.wake('runs', START + 100)
        queue.wake('runs', START + 200)
        await pass(100)
        await first.promise
        await endsIn(100, wait('runs'))
        await endsIn(100, wait('runs'))
      })

      it('is remembered when its time passes without a wait', async () => {
        queue.wake('runs', START + 100)
        await pass(500)
        await wait('runs').promise
        await endsIn(1, wait('runs', START + 501))
      })

      it('may be further away than a timer reaches', async () => {
        const days30 = 30 * 86_400_000
        queue.wake('runs', START + days30)
        await endsIn(days30, wait('runs'))
      })
    })

    describe('a wait', () => {
      it('ends at `until` without a wake-up', async () => {
        await endsIn(100, wait('runs', START + 100))
      })

      it('ends at once when `until` has passed', async () => {
        await wait('runs', START).promise
        await wait('runs', START - 1).promise
        expect(clock.now()).toBe(START)
      })

      it('may have no `until`', async () => {
        const { promise, state } = wait('runs', Number.POSITIVE_INFINITY)
        await pass(1e12)
        expect(state.over).toBe(false)
        queue.wake('runs', clock.now())
        await promise
      })

      it('ends at once on abort, before or during', async () => {
        const controller = new AbortController()
        const { promise, state } = wait('runs', FAR, controller.signal)
        await pass(0)
        expect(state.over).toBe(false)
        controller.abort()
        await promise
        await wait('runs', FAR, controller.signal).promise
        expect(clock.now()).toBe(START)
      })

      it('that is aborted uses up no wake-up', async () => {
        const controller = new AbortController()
        queue.wake('runs', START + 100)
        const { promise } = wait('runs', FAR, controller.signal)
        await pass(50)
        controller.abort()
        await promise
        const second = wait('runs')
        await pass(50)
        await second.promise
        queue.wake('runs', clock.now())
        await wait('runs', FAR, controller.signal).promise
        await wait('runs').promise
      })

      it('leaves no timer and no listener behind', async () => {
        const controller = new AbortController()
        queue.wake('runs', START + 1000)
        for (let i = 0; i < 50; i++) {
          const { promise } = wait('runs', FAR, controller.signal)
          queue.wake('runs', START)
          await promise
        }
        const last = wait('runs', START + 5000, controller.signal)
        await pass(0)
        controller.abort()
        await last.promise
        expect(clock.nextTimer()).toBeUndefined()
      })
    })
  })
}

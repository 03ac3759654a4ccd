// Live runs that share a key of a singleton or a start, and runs that watch for an event. No run that begins or ends at the same
// moment is missed.

import { describe, expect, it } from 'vitest'
import type { Change, Guard } from '../../../../packages/engine/src/domain/model/change.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { aLeasedRun, aRun, created, eachStore, holds, NOW, NS, type OpenStore, write } from '../samples.ts'

const ended = (run: Run): Change => ({
  type: 'run.moved',
  run: {
    ...run,
    fence: run.fence + 1,
    status: 'succeeded',
    finishedAt: NOW,
    finishedSeq: 9,
    availableAt: undefined,
  },
  frames: [],
})

export function liveContract(open: OpenStore): void {
  describe('live runs', () => {
    const store = eachStore(open)

    describe.each([
      ['live', 'singletonKey'],
      ['started', 'startKey'],
    ] as const)('with a key: %s', (type, field) => {
      const of = { type, namespace: NS, app: 'shop', workflow: 'order', key: 'a' }
      const are = (...runs: Run[]): Guard => ({ ...of, runIds: runs.map(({ id }) => id) })

      it('are found, and guarded to the last one', async () => {
        const [one, two] = [aRun({ [field]: 'a' }), aRun({ [field]: 'a' })]
        expect(await store().liveRuns(of)).toEqual([])
        expect(await holds(store(), are())).toBe(true)
        await write(store(), created(one), created(two))
        expect((await store().liveRuns(of)).sort()).toEqual([one.id, two.id].sort())
        expect(await holds(store(), are(two, one))).toBe(true)
        expect(await holds(store(), are())).toBe(false)
        expect(await holds(store(), are(one))).toBe(false)
        expect(await holds(store(), are(one, two, aRun()))).toBe(false)
      })

      it('are those of that key, workflow, app and namespace alone', async () => {
        const others = [
          aRun({ [field]: 'b' }),
          aRun({ [field === 'startKey' ? 'singletonKey' : 'startKey']: 'a' }),
          aRun({ [field]: 'a', workflow: 'other' }),
          aRun({ [field]: 'a', app: 'other' }),
          aRun({ [field]: 'a', namespace: 'other' }),
        ]
        await write(store(), ...others.flatMap(run => created(run)))
        expect(await store().liveRuns(of)).toEqual([])
        expect(await holds(store(), are())).toBe(true)
      })

      it('are not live any more once they have ended, or their cancel is requested', async () => {
        const [one, two] = [aLeasedRun({ [field]: 'a' }), aRun({ [field]: 'a' })]
        await write(store(), created(one), created(two))
        await write(store(), ended(one))
        expect(await holds(store(), are(two))).toBe(true)
        await write(store(), { type: 'run.cancelRequested', runId: two.id, at: NOW })
        expect(await holds(store(), are())).toBe(true)
      })
    })

    describe('that watch for an event', () => {
      const cancelOn = [{ event: 'stop' }, { event: 'stop', if: 'event.data.a == async.data.a' }, { event: 'x' }]
      const none = (after = 0): Guard => ({ type: 'watchers', namespace: NS, eventName: 'stop', after })
      const all = async (after = 0, limit = 100) =>
        (await store().watchers({ namespace: NS, eventName: 'stop', after, limit })).watchers

      it('are found oldest first, page by page, with their trigger where there is a condition', async () => {
        const input = JSON.stringify({ a: 'x'.repeat(5000) })
        const one = aRun({ cancelOn, input, trigger: { id: 'evt_1', name: 'order.paid' } })
        const two = aRun({ cancelOn: [{ event: 'stop' }], input })
        await write(store(), created(one), created(two))
        const found = await all()
        expect(found.map(({ watcher }) => watcher)).toEqual([
          { runId: one.id },
          { runId: one.id, condition: { filter: cancelOn[1]?.if, trigger: { ...one.trigger, data: input } } },
          { runId: two.id },
        ])
        const [first, second, third] = found.map(({ position }) => position) as [number, number, number]
        expect(first < second && second < third).toBe(true)
        expect((await all(first, 1)).map(({ position }) => position)).toEqual([second])
        expect(await holds(store(), none(third))).toBe(true)
        expect(await holds(store(), none(second))).toBe(false)
      })

      it('are those of that name and namespace alone', async () => {
        await write(store(), created(aRun({ cancelOn: [{ event: 'x' }] })), created(aRun()))
        await write(store(), created(aRun({ cancelOn: [{ event: 'stop' }], namespace: 'other' })))
        expect(await all()).toEqual([])
        expect(await holds(store(), none())).toBe(true)
      })

      it('do not watch any more once they have ended, and a later watch never takes the position of an old one', async () => {
        const one = aLeasedRun({ cancelOn })
        await write(store(), created(one))
        const last = (await all()).at(-1)?.position as number
        await write(store(), ended(one))
        expect(await all()).toEqual([])
        expect(await holds(store(), none())).toBe(true)
        await write(store(), created(aRun({ cancelOn: [{ event: 'stop' }] })))
        expect(await holds(store(), none(last))).toBe(false)
      })
    })
  })
}

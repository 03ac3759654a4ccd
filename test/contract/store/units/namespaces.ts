// No byte crosses namespaces: the rows of one do not exist in another.

import { beforeEach, describe, expect, it } from 'vitest'
import {
  aDelivery,
  aLeasedRun,
  aLine,
  anEvent,
  aParkedRun,
  aStep,
  aWait,
  created,
  eachStore,
  NOW,
  type OpenStore,
  write,
} from '../samples.ts'

export function namespacesContract(open: OpenStore): void {
  describe('namespaces', () => {
    const store = eachStore(open)
    const [mine, theirs] = ['mine', 'theirs']
    const run = aLeasedRun({ namespace: theirs, input: '"secret"' })
    const parked = aParkedRun({ namespace: theirs })
    const event = anEvent({ namespace: theirs })
    const delivery = aDelivery({ namespace: theirs })

    beforeEach(async () => {
      const attempt = {
        id: 'a',
        deliveryId: delivery.id,
        attempt: 1,
        outcome: 'succeeded',
        durationMs: 1,
        createdAt: NOW,
      } as const
      await write(
        store(),
        created(run, aStep(run)),
        created(parked, aWait(parked)),
        { type: 'log.written', line: aLine(run) },
        { type: 'event.recorded', event },
        { type: 'delivery.created', delivery },
        { type: 'delivery.attempted', attempt },
      )
    })

    it('answer nothing of another', async () => {
      const reads = store().in(mine)
      expect(await reads.run(run.id)).toBeUndefined()
      expect(await reads.status(run.id)).toBeUndefined()
      expect(await reads.runs({ limit: 10 })).toEqual([])
      expect(await reads.runs({ limit: 10, status: ['running'] })).toEqual([])
      expect(await reads.steps(run.id)).toEqual([])
      expect(await reads.logs(run.id, { from: 0, limit: 10 })).toEqual([])
      expect((await reads.timeline(run.id, { after: 0, limit: 10, openFrom: 0 })).frames).toEqual([])
      expect(await reads.event(event.id)).toBeUndefined()
      expect(await reads.events({ limit: 10 })).toEqual([])
      expect(await reads.delivery(delivery.id)).toBeUndefined()
    })

    it('answer all of their own', async () => {
      const reads = store().in(theirs)
      expect(await reads.run(run.id)).toMatchObject({ input: '"secret"' })
      expect(await reads.status(run.id)).toMatchObject({ status: 'running' })
      expect(await reads.runs({ limit: 10 })).toHaveLength(2)
      expect(await reads.steps(run.id)).toHaveLength(1)
      expect(await reads.logs(run.id, { from: 0, limit: 10 })).toHaveLength(1)
      expect((await reads.timeline(run.id, { after: 0, limit: 10, openFrom: 0 })).frames).toHaveLength(4)
      expect(await reads.event(event.id)).toEqual(event)
      expect(await reads.events({ limit: 10 })).toHaveLength(1)
      expect((await reads.delivery(delivery.id))?.attempts).toHaveLength(1)
    })

    it('keep waits and events apart', async () => {
      expect((await store().waiters({ namespace: mine, eventName: 'go' })).waiters).toEqual([])
      expect((await store().waiters({ namespace: theirs, eventName: 'go' })).waiters).toHaveLength(1)
      const query = { eventName: 'go', runId: run.id, after: 'run', limit: 10 } as const
      expect(await store().eventsSince({ ...query, namespace: mine })).toEqual([])
      expect(await store().eventsSince({ ...query, namespace: theirs })).toHaveLength(1)
      await store().commit({
        guards: [
          { type: 'waiters', namespace: mine, eventName: 'go', waiters: [] },
          { type: 'events', namespace: mine, eventName: 'go', runId: run.id, after: 'run' },
        ],
        changes: [],
      })
    })

    it('load any run for its owner', async () => {
      expect((await store().loadRun(run.id))?.run.namespace).toBe(theirs)
    })
  })
}

// The longest names and keys that the interface accepts. Each is written to every index that contains it, so no index of a store
// may have a lower bound.

import { describe, expect, it } from 'vitest'
import type { Change } from '../../../../packages/engine/src/domain/model/change.ts'
import { destinationOf } from '../../../../packages/engine/src/domain/model/delivery.ts'
import { flowRowId } from '../../../../packages/engine/src/domain/model/flow-row.ts'
import { stepLineKey } from '../../../../packages/engine/src/domain/model/log-line.ts'
import type { Runner, Workflow } from '../../../../packages/engine/src/domain/model/workflow.ts'
import { seeded } from '../../../kit/seeded.ts'
import {
  aDelivery,
  aLeasedRun,
  aLine,
  anEvent,
  aRun,
  aWait,
  created,
  holds,
  NOW,
  type OpenStore,
  oneStore,
  write,
} from '../samples.ts'

const random = seeded(20)

/** Random characters, because a database compresses repeated characters and would then fit far more. */
function text(chars: number, [from, to]: readonly [number, number]): string {
  return Array.from({ length: chars }, () => String.fromCodePoint(random.between(from, to))).join('')
}

const OF_THREE_BYTES = [0x4e00, 0x9fff] as const
const OF_FOUR_BYTES = [0x1_0000, 0x10_ffff] as const
/** Stored as JSON, with six bytes each. Strings of runners may contain them; strings of the interface may not. */
const LONE_SURROGATES = [0xd800, 0xdbff] as const
const ASCII = [0x61, 0x7a] as const

const name = (chars: number) => text(chars, OF_FOUR_BYTES)
/** A URL that `URL.canParse` of a runner accepts unchanged. */
const url = () => `https://${text(1000, ASCII)}/${name(1000)}`

export function longNamesContract(open: OpenStore): void {
  describe('the longest names and keys', () => {
    const store = oneStore(open)
    // Bounded in UTF-16 units, so it is longest with three bytes per unit.
    const namespace = text(128, OF_THREE_BYTES)
    const [app, workflow] = [name(128), name(256)]
    const of = { namespace, app, workflow }
    const reads = () => store().in(namespace)

    it('name a run, its singleton, and what cancels it', async () => {
      const [eventName, key] = [name(256), text(256, OF_THREE_BYTES)]
      const run = aRun({
        ...of,
        eventName,
        runner: name(128),
        singletonKey: key,
        startKey: key,
        cancelOn: [{ event: eventName }],
      })
      await write(store(), created(run))
      expect((await store().loadRun(run.id))?.run).toEqual(run)
      expect((await reads().runs({ app, limit: 9 })).map(({ id }) => id)).toEqual([run.id])
      expect((await reads().runs({ app, limit: 9, sort: 'workflow' })).map(({ id }) => id)).toEqual([run.id])
      expect(await store().liveRuns({ type: 'live', ...of, key })).toEqual([run.id])
      expect(await store().liveRuns({ type: 'started', ...of, key })).toEqual([run.id])
      const { watchers: watched } = await store().watchers({ namespace, eventName, after: 0, limit: 9 })
      expect(watched.map(({ watcher }) => watcher.runId)).toEqual([run.id])
    })

    it.each([
      ['of the interface', OF_FOUR_BYTES],
      ['of a runner', LONE_SURROGATES],
    ])('name an event %s, and a wait for it', async (_, characters) => {
      const eventName = text(256, characters)
      const run = aRun(of)
      const event = anEvent({ namespace, app, name: eventName })
      const recorded: Change = { type: 'event.recorded', event }
      await write(store(), created(run, aWait(run, { eventName })), recorded)
      expect((await store().waiters({ namespace, eventName })).waiters).toMatchObject([{ runId: run.id }])
      expect((await reads().events({ app, name: eventName, limit: 9 })).map(each => each.event)).toEqual([event])
      const since = await store().eventsSince({ namespace, eventName, runId: run.id, after: 'run', limit: 9 })
      expect(since.map(each => each.event)).toEqual([event])
    })

    it('are a dedupe id', async () => {
      const key = { namespace, app, dedupeId: name(256) }
      await write(store(), { type: 'dedupe.claimed', ...key, expiresAt: NOW + 9 })
      expect(await holds(store(), { type: 'dedupe', ...key, now: NOW })).toBe(false)
      expect(await store().dedupeClaim({ ...key, now: NOW })).toEqual({})
    })

    it.each([
      ['the id of a step', text(256, LONE_SURROGATES)],
      ['the scope of a line that belongs to no step', name(5000)],
    ])('distinguish log lines by %s', async (_, scope) => {
      const run = aLeasedRun(of)
      const line = (of: string, index: number) => aLine(run, { scope: of, index, dedupe: stepLineKey(of, 1, index) })
      const [first, second, other] = [line(scope, 0), line(scope, 1), line(`${scope}b`, 2)]
      const written = [first, second, first, other].map((line): Change => ({ type: 'log.written', line }))
      await write(store(), created(run), written)
      expect(await reads().logs(run.id, { from: 0, limit: 9 })).toEqual([first, second, other])
    })

    it('name a runner, and its workflows', async () => {
      const runner: Runner = {
        namespace,
        app,
        runnerId: name(128),
        url: url(),
        workflows: [workflow],
        lastSeenAt: NOW,
      }
      const long = url()
      const nameless: Runner[] = [long, `${long}b`].map(each => ({ ...runner, runnerId: each, url: each }))
      const registered: Workflow = {
        ...of,
        name: workflow,
        triggers: [{ event: name(256) }],
        retry: { maxAttempts: 5, initialMs: 1000, factor: 2, maxMs: 300_000, jitter: 0.2 },
        onFailure: false,
        updatedAt: NOW,
      }
      const { workflow: _, ...definition } = registered as Workflow & { workflow: string }
      const runners = async () => (await store().catalog()).runners.filter(found => found.app === app)
      await write(
        store(),
        { type: 'app.seen', app: { namespace, name: app, createdAt: NOW } },
        [runner, ...nameless].map((runner): Change => ({ type: 'runner.registered', runner })),
        { type: 'workflow.registered', workflow: definition },
      )
      expect(await runners()).toHaveLength(3)
      expect(await runners()).toEqual(expect.arrayContaining([runner, ...nameless]))
      expect((await store().catalog()).workflows.filter(found => found.app === app)).toEqual([definition])
      const forgotten = nameless.map(({ runnerId }): Change => ({ type: 'runner.forgotten', namespace, app, runnerId }))
      await write(store(), forgotten)
      expect(await runners()).toEqual([runner])
    })

    it('are the key of a buffer', async () => {
      const parts = { ...of, policy: 'cron' as const, key: name(256) }
      const row = { ...parts, id: flowRowId(parts), version: 1, availableAt: NOW, state: '{}' }
      await write(store(), { type: 'flow.saved', row })
      expect(await store().flowRow(row.id)).toEqual(row)
      expect(await reads().schedules()).toMatchObject([{ id: row.id }])
    })

    it.each([
      ['a server whose name is long', `https://${text(2040, ASCII)}`],
      ['a server whose name grows as it is encoded', `https://${name(2000)}`],
    ])('are the destination of a delivery: %s', async (_, to) => {
      const [delivery, other] = [to, 'https://example.test'].map(url => aDelivery({ namespace, app, url }))
      if (!delivery || !other) throw new Error('unreachable')
      const creation = (delivery: typeof other): Change => ({ type: 'delivery.created', delivery })
      await write(store(), creation(delivery), creation(other))
      expect((await reads().delivery(delivery.id))?.delivery).toEqual(delivery)
      const claim = { owner: 'engine-1', now: NOW, leaseUntil: NOW + 60_000, limit: 9 }
      const full = new Map([[destinationOf(delivery), 0]])
      const claimed = await store().claimDeliveries({ ...claim, room: full, unnamed: 9 })
      expect(claimed.map(({ id }) => id)).toEqual([other.id])
      const rest = await store().claimDeliveries({ ...claim, room: new Map(), unnamed: 9 })
      expect(rest.map(({ id }) => id)).toEqual([delivery.id])
    })
  })
}

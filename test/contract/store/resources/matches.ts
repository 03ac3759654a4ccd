// Waits and watches with a match: found by a key, with guards that see every other wait or watch that could have the key.

import { describe, expect, it } from 'vitest'
import { EventSubject } from '../../../../packages/engine/src/domain/expressions/event-subject.ts'
import {
  eventMatchKey,
  pathsDigest,
  pathsOf,
  waitMatchKey,
} from '../../../../packages/engine/src/domain/expressions/match.ts'
import type { Guard } from '../../../../packages/engine/src/domain/model/change.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import type { Step } from '../../../../packages/engine/src/domain/model/step.ts'
import type { EventMatch } from '../../../../packages/protocol/src/index.ts'
import { aParkedRun, aRun, aWait, created, eachStore, holds, NOW, NS, type OpenStore, write } from '../samples.ts'

const GO = { namespace: NS, eventName: 'go' }
const STOP = { namespace: NS, eventName: 'stop' }

const keyOf = (match: EventMatch, data?: unknown) => waitMatchKey(match, { name: 'start', data: JSON.stringify(data) })
const waitWith = (run: Run, match: EventMatch, fields: Partial<Step> = {}) =>
  aWait(run, { match, matchKey: waitMatchKey(match, { ...run.trigger, data: run.input }), ...fields })

export function matchesContract(open: OpenStore): void {
  describe('waits with a match', () => {
    const store = eachStore(open)

    it('are found by their key, each list of paths once, and the others without it', async () => {
      const input = JSON.stringify({ id: 7 })
      const [plain, one, two, three] = [aParkedRun(), aParkedRun({ input }), aParkedRun(), aParkedRun()] as const
      await write(
        store(),
        created(plain, aWait(plain)),
        created(one, waitWith(one, 'data.id')),
        created(two, waitWith(two, { 'data.id': 8 })),
        created(three, waitWith(three, { 'data.a': 'x', 'data.b': null })),
      )
      const found = await store().waiters({ ...GO, listsMax: 5 })
      expect(found.waiters.map(({ runId }) => runId)).toEqual([plain.id])
      const lists = [['data.id'], ['data.a', 'data.b']]
      expect(found.lists.toSorted()).toEqual(lists.toSorted())
      const event = new EventSubject({ name: 'go', data: input })
      const matchKey = eventMatchKey(['data.id'], event) as string
      const trigger = { name: one.trigger.name, data: input }
      expect(await store().waiters({ ...GO, matchKey })).toEqual({
        waiters: [{ runId: one.id, stepIndex: 0, since: NOW + 10, condition: { match: 'data.id', trigger } }],
        lists: [],
      })
      const all = await store().waiters({ ...GO, isWhole: true })
      expect(all.waiters.map(({ runId }) => runId).sort()).toEqual([plain, one, two, three].map(({ id }) => id).sort())
    })

    it('are read with one list more than asked for, however many there are', async () => {
      const runs = Array.from({ length: 6 }, () => aParkedRun())
      await write(store(), ...runs.map((run, i) => created(run, waitWith(run, { [`data.a${i % 5}`]: 1 }))))
      expect((await store().waiters({ ...GO, listsMax: 9 })).lists).toHaveLength(5)
      expect((await store().waiters({ ...GO, listsMax: 2 })).lists).toHaveLength(3)
      expect((await store().waiters({ ...GO, eventName: 'other', listsMax: 2 })).lists).toEqual([])
    })

    it('hold a guard for those with the key, for those without one, and for the lists', async () => {
      const [plain, one] = [aParkedRun(), aParkedRun()]
      await write(store(), created(plain, aWait(plain)), created(one, waitWith(one, { 'data.id': 7 })))
      const waiters = (run?: Run) => (run ? [{ runId: run.id, stepIndex: 0 }] : [])
      const are = (matchKey: string | null, run?: Run): Guard => ({
        type: 'waiters',
        ...GO,
        matchKey,
        waiters: waiters(run),
      })
      expect(await holds(store(), are(null, plain))).toBe(true)
      expect(await holds(store(), are(null))).toBe(false)
      expect(await holds(store(), are(keyOf({ 'data.id': 7 }), one))).toBe(true)
      expect(await holds(store(), are(keyOf({ 'data.id': 7 })))).toBe(false)
      expect(await holds(store(), are(keyOf({ 'data.id': 8 })))).toBe(true)
      // The guard of all waits for the name sees those with a match, too.
      expect(await holds(store(), { type: 'waiters', ...GO, waiters: waiters(plain) })).toBe(false)
      const lists = (...matches: EventMatch[]): Guard => ({
        type: 'waitPaths',
        ...GO,
        digests: matches.map(match => pathsDigest(pathsOf(match))),
      })
      expect(await holds(store(), lists('data.id'))).toBe(true)
      expect(await holds(store(), lists())).toBe(false)
      expect(await holds(store(), lists('data.other'))).toBe(false)
      expect(await holds(store(), lists('data.id', 'data.other'))).toBe(false)
    })
  })

  describe('watches with a match', () => {
    const store = eachStore(open)

    it('are found by their key, with the last time at which an event cancels', async () => {
      const input = JSON.stringify({ id: 7 })
      const cancelOn = [{ event: 'stop', match: 'data.id', timeoutMs: 1000 }, { event: 'stop' }]
      const run = aRun({ cancelOn, input })
      await write(store(), created(run))
      const query = { ...STOP, after: 0, limit: 9 }
      const plain = await store().watchers({ ...query, listsMax: 5 })
      expect(plain).toMatchObject({ watchers: [{ watcher: { runId: run.id } }], lists: [['data.id']] })
      const { watchers } = await store().watchers({ ...query, matchKey: keyOf('data.id', { id: 7 }) })
      const condition = { match: 'data.id', trigger: { ...run.trigger, data: input } }
      expect(watchers.map(({ watcher }) => watcher)).toEqual([
        { runId: run.id, condition, until: run.createdAt + 1000 },
      ])
      expect((await store().watchers({ ...query, matchKey: keyOf('data.id', { id: 8 }) })).watchers).toEqual([])
      expect((await store().watchers({ ...query, isWhole: true })).watchers).toHaveLength(2)
      expect((await store().loadRun(run.id))?.run.cancelOn).toEqual(cancelOn)
    })

    it('hold a guard for those with the key, for those without one, and for the lists', async () => {
      const run = aRun({ cancelOn: [{ event: 'stop', match: { 'data.id': 7 } }] })
      await write(store(), created(run))
      const none = (matchKey?: string | null): Guard => ({
        type: 'watchers',
        ...STOP,
        after: 0,
        ...(matchKey === undefined ? {} : { matchKey }),
      })
      expect(await holds(store(), none())).toBe(false)
      expect(await holds(store(), none(null))).toBe(true)
      expect(await holds(store(), none(keyOf({ 'data.id': 7 })))).toBe(false)
      expect(await holds(store(), none(keyOf({ 'data.id': '7' })))).toBe(true)
      const lists = (...digests: string[]): Guard => ({ type: 'watchPaths', ...STOP, digests })
      expect(await holds(store(), lists(pathsDigest(['data.id'])))).toBe(true)
      expect(await holds(store(), lists())).toBe(false)
      expect(await holds(store(), lists(pathsDigest(['data.x'])))).toBe(false)
    })
  })
}

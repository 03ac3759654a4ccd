// Documents: stored by namespace, kind and id, limited in number. The state of an error group lives as long as one of its runs.

import { describe, expect, it } from 'vitest'
import type { Document } from '../../../../packages/engine/src/domain/model/document/document.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { errorFingerprint } from '../../../../packages/engine/src/domain/view/errors/error-fingerprint.ts'
import type { ErrorGroupsQuery } from '../../../../packages/engine/src/ports/store-statistics.ts'
import { aRun, created, eachStore, NOW, NS, type OpenStore, write } from '../samples.ts'

const saved = (document: Partial<Document>) =>
  ({
    type: 'document.saved',
    document: { namespace: NS, kind: 'view', id: 'a', content: '{}', savedAt: NOW, ...document },
  }) as const

const failedAt = (finishedAt: number, message: string, fields: Partial<Run> = {}) =>
  aRun({
    status: 'failed',
    finishedAt,
    finishedSeq: 9,
    availableAt: undefined,
    error: { message, code: 'step_failed' },
    ...fields,
  })

const keyOf = (run: Run) => errorFingerprint(run) as string
const stateOf = (run: Run, document: Partial<Document> = {}) =>
  saved({ kind: 'error', id: keyOf(run), content: 'resolved', ...document })

export function documentsContract(open: OpenStore): void {
  describe('documents', () => {
    const store = eachStore(open)
    const views = async (namespace = NS, limit = 9) =>
      (await store().in(namespace).documents({ kind: 'view', limit })).map(({ id, content }) => [id, content])

    it('are kept by namespace, kind and id; the later save replaces the earlier one', async () => {
      await write(store(), saved({ id: 'b' }), saved({}), saved({ kind: 'error' }), saved({ namespace: 'theirs' }))
      await write(store(), saved({ content: '{"n":1}', actor: 'ada', savedAt: NOW + 1 }))
      expect(await views()).toEqual([
        ['a', '{"n":1}'],
        ['b', '{}'],
      ])
      expect(await views(NS, 1)).toHaveLength(1)
      expect(await views('theirs')).toEqual([['a', '{}']])
      const found = await store().in(NS).document('view', 'a')
      expect(found).toEqual({ ...saved({}).document, content: '{"n":1}', actor: 'ada', savedAt: NOW + 1 })
      await write(store(), { type: 'document.deleted', namespace: NS, kind: 'view', id: 'a' })
      expect(await views()).toEqual([['b', '{}']])
      expect(await views('theirs')).toHaveLength(1)
      expect(await store().in(NS).document('error', 'a')).toBeDefined()
      expect(await store().in(NS).document('view', 'a')).toBeUndefined()
    })

    it('are counted by a guard, without the one that is saved', async () => {
      await write(store(), saved({ id: 'a' }), saved({ id: 'b' }), saved({ kind: 'error', id: 'c' }))
      const commit = (id: string, most: number) =>
        store().commit({ guards: [{ type: 'documents', namespace: NS, kind: 'view', id, most }], changes: [] })
      await commit('a', 1)
      await commit('c', 2)
      await expect(commit('c', 1)).rejects.toThrow()
    })

    it('of an error group are guarded by a run that failed with its fingerprint', async () => {
      const run = failedAt(NOW, 'no')
      const commit = (namespace: string, fingerprint: string) =>
        store().commit({ guards: [{ type: 'failed', namespace, fingerprint }], changes: [] })
      await expect(commit(NS, keyOf(run))).rejects.toThrow()
      await write(store(), created(run), created(failedAt(NOW, 'no')))
      await commit(NS, keyOf(run))
      expect(await store().in(NS).hasFailed(keyOf(run))).toBe(true)
      expect(await store().in('theirs').hasFailed(keyOf(run))).toBe(false)
      await expect(commit('theirs', keyOf(run))).rejects.toThrow()
    })
  })

  describe('states of error groups', () => {
    const store = eachStore(open)
    const groups = async (query: Partial<ErrorGroupsQuery> = {}) =>
      (
        await store()
          .in(NS)
          .errorGroups({ since: NOW, limit: 9, ...query })
      ).map(({ error: { message }, state }) => `${message}: ${state}`)
    const fresh = failedAt(NOW, 'fresh')
    const [fixed, back, known] = [failedAt(NOW, 'fixed'), failedAt(NOW, 'back'), failedAt(NOW, 'known')]
    const ALL = ['back: regressed', 'fixed: resolved', 'fresh: open', 'known: ignored']

    it('follow from what is stored and the last failure, and filter the groups before they are cut off', async () => {
      await write(store(), ...[fresh, fixed, back, known].map(run => created(run)))
      await write(store(), stateOf(fixed, { actor: 'ada', savedAt: NOW }), stateOf(back, { savedAt: NOW }))
      await write(store(), stateOf(known, { content: 'ignored' }), stateOf(fresh, { namespace: 'theirs' }))
      await write(store(), created(failedAt(NOW + 1, 'known')), created(failedAt(NOW + 1, 'back')))
      await write(store(), created(failedAt(NOW + 2, 'known')), created(failedAt(NOW + 3, 'back')))
      expect((await groups()).sort()).toEqual(ALL)
      expect((await groups({ state: 'open' })).sort()).toEqual(['back: regressed', 'fresh: open'])
      expect(await groups({ state: 'resolved', limit: 1 })).toEqual(['fixed: resolved'])
      expect(await groups({ state: 'ignored', limit: 1 })).toEqual(['known: ignored'])
      const [group] = await store().in(NS).errorGroups({ since: NOW, limit: 1, state: 'resolved' })
      expect(group).toMatchObject({ stateSetAt: NOW, stateSetBy: 'ada' })
      // Failures after the window count for the state, but not for the group.
      expect((await groups({ until: NOW + 1 })).sort()).toEqual(ALL)
      expect(await groups({ until: NOW + 1, state: 'resolved', trend: { spans: 1, spanMs: 1 } })).toEqual([
        'fixed: resolved',
      ])
      expect(
        await store()
          .in(NS)
          .errorGroups({ since: NOW, until: NOW + 1, limit: 9 }),
      ).toMatchObject(Array(4).fill({ count: 1, lastAt: NOW }))
      await write(store(), stateOf(back, { savedAt: NOW + 3 }))
      expect(await groups({ state: 'resolved' })).toContain('back: resolved')
    })

    it('go with the last run of the group, whether retention removes it or a person', async () => {
      const state = async (run: Run) => (await store().in(NS).document('error', keyOf(run)))?.content
      const later = failedAt(NOW + 5, 'fixed')
      const theirs = failedAt(NOW, 'fixed', { namespace: 'theirs' })
      await write(store(), ...[fixed, later, theirs, known].map(run => created(run)))
      await write(
        store(),
        stateOf(fixed),
        stateOf(known, { content: 'ignored' }),
        stateOf(theirs, { namespace: 'theirs' }),
      )
      const prune = (before: number) => store().prune({ rows: 'runs.failed', before, limit: 50 })
      expect(await prune(NOW + 1)).toBe(3)
      expect([await state(fixed), await state(known)]).toEqual(['resolved', undefined])
      expect(await store().in('theirs').document('error', keyOf(theirs))).toBeUndefined()
      const twin = failedAt(NOW + 6, 'fixed')
      await write(store(), created(twin))
      const erase = (run: Run) =>
        write(store(), { type: 'run.erased', namespace: NS, runId: run.id, eventIds: [], at: NOW })
      await erase(later)
      expect(await state(fixed)).toBe('resolved')
      await erase(twin)
      expect(await state(fixed)).toBeUndefined()
    })
  })
}

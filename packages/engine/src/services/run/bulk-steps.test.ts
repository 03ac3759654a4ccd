// Which runs a bulk action still applies to; its step on a run that has changed since its slice found it, on a real store.

import { expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import { eligibleStatuses, isStillMatched } from '../../domain/model/bulk.ts'
import type { Run, RunFilter } from '../../domain/model/run.ts'
import { noAssumptions } from '../../domain/run/assumptions.ts'
import { NOW, run } from '../../domain/testkit/nouns.testkit.ts'
import { Catalog } from '../catalog/catalog.ts'
import { Namespaces } from '../catalog/namespaces.ts'
import { BulkSteps } from './bulk-steps.ts'

test('a run that no longer matches the filter is refused', async () => {
  const store = await openSqliteStore({ file: ':memory:' })
  onTestFinished(() => store.close())
  const held = run({ status: 'queued', waitingFor: { kind: 'concurrency' } })
  await store.commit({ guards: [], changes: [{ type: 'run.created', run: held }] })
  const clock = { now: () => NOW, elapsed: () => NOW, at: () => () => {}, after: () => () => {} }
  const catalog = new Catalog({ deliveryAttemptsMax: 1, generationsMax: 100 })
  const steps = new BulkSteps({
    ...{ store, clock, catalog, namespaces: new Namespaces(catalog) },
    ...{ report: () => {}, interrupt: () => {}, withdraw: () => {} },
  })
  const decideUnder = async (filter: RunFilter) => {
    const job = { id: 'blk_1', namespace: held.namespace, action: 'cancel', status: 'running', filter } as const
    const subject = { job: { ...job, auditId: 'act_1', createdAt: NOW }, given: {}, runId: held.id }
    return (await steps.of({ ...subject, newRun: { id: 'run_new', now: NOW } })).decide(noAssumptions())
  }
  expect((await decideUnder({ waitingFor: 'concurrency' })).changes).not.toEqual([])
  await expect(decideUnder({ waitingFor: 'throttle' })).rejects.toThrow('no longer matches the filter')
})

test.each<[RunFilter, Pick<Run, 'status' | 'waitingFor'>, boolean]>([
  [{}, { status: 'queued' }, true],
  [{ waitingFor: 'concurrency' }, { status: 'queued', waitingFor: { kind: 'concurrency' } }, true],
  [{ waitingFor: 'concurrency' }, { status: 'running' }, false],
  [{ waitingFor: 'concurrency' }, { status: 'waiting', waitingFor: { kind: 'event' } }, false],
  [{ status: ['queued'] }, { status: 'running' }, false],
  [{ status: ['running'] }, { status: 'waiting' }, true],
  [{ status: ['waiting'] }, { status: 'running' }, false],
])('a run that %o has found and that is %o still matches: %s', (filter, run, expected) => {
  expect(isStillMatched(filter, run)).toBe(expected)
})

test('an action applies to the statuses that it has in common with the filter', () => {
  expect(eligibleStatuses('replay', {})).toEqual(['succeeded', 'failed', 'cancelled'])
  expect(eligibleStatuses('pause', { status: ['running', 'failed'] })).toEqual(['running', 'waiting'])
  expect(eligibleStatuses('resume', { status: ['failed'] })).toEqual([])
})

// The events of runs that have ended (docs/events.md#events-of-the-engine).

import { describe, expect, it } from 'vitest'
import { fanout } from '../../arrival/fanout.ts'
import type { Run } from '../../model/run.ts'
import type { Workflow } from '../../model/workflow.ts'
import { given, givenLoaded, type Then } from '../../testkit/given.testkit.ts'
import { catalog, NOW, rejected, reported, returned, run, runsChild, workflow } from '../../testkit/nouns.testkit.ts'
import { noAssumptions } from '../assumptions.ts'
import { scheduledEvent } from './scheduled-event.ts'

const FAILED = 'perdure/run.failed'
const listens = (event: string, name = 'alert') => workflow(name, { triggers: [{ event }] })
const sent = (then: Then) =>
  then
    .changes('flow.saved')
    .filter(({ row }) => row.policy === 'ended')
    .map(({ row }) => ({ ...scheduledEvent(row), row }))
const data = (then: Then) => JSON.parse(sent(then)[0]?.data ?? 'null')
const failing = (fields: Partial<Run>, ...workflows: Workflow[]) =>
  given(run(fields))
    .registered(workflow('order'), ...workflows)
    .when(rejected)
const startedBy = (name: string): Partial<Run> => ({
  eventName: name,
  eventId: 'evt_k',
  trigger: { id: 'evt_k', name },
})

describe('the end of a run', () => {
  it.each([
    [
      'perdure/run.succeeded',
      { status: 'succeeded', result: 1 },
      (g: typeof given) => g(run()).registered(listens('perdure/run.succeeded')).when(returned('1')),
    ],
    [FAILED, { status: 'failed', error: { code: 'runner_rejected' } }, () => failing({}, listens('perdure/run.*'))],
    [
      'perdure/run.cancelled',
      { status: 'cancelled' },
      () => givenLoaded(run()).registered(listens('perdure/*')).whenCancelled(),
    ],
  ])('is kept as %s, due at once', (name, about, then) => {
    const decided = then(given)
    expect(sent(decided)).toMatchObject([{ name, app: 'shop', createdAt: NOW, row: { availableAt: NOW } }])
    expect(data(decided)).toMatchObject({ runId: decided.run.id, workflow: 'order', app: 'shop', ...about })
  })

  it.each(['*', 'perdur*', 'run.failed', 'perdure/run.succeeded', 'perdure/run.succ*'])(
    'is not kept for a trigger on %s',
    event => expect(sent(failing({}, listens(event)))).toEqual([]),
  )

  it('says kind, parent and attributes of a run that has them', () => {
    const attributes = { plan: 'pro' }
    const then = failing({ cleanupOf: 'run_a', parentRunId: 'run_a', attributes }, listens(FAILED))
    expect(data(then)).toMatchObject({ kind: 'cleanup', parentRunId: 'run_a', attributes })
    expect(data(failing({ parentRunId: 'run_a', failure: { message: 'no' } }, listens(FAILED))).kind).toBe('onFailure')
    expect(Object.keys(data(failing({}, listens(FAILED))))).toEqual(['runId', 'workflow', 'app', 'status', 'error'])
  })

  it('leaves out a result above 64 KiB, and says so', () => {
    const ends = (bytes: number) =>
      data(
        given(run())
          .registered(listens('perdure/run.*'))
          .when(returned(JSON.stringify('x'.repeat(bytes - 2)))),
      )
    expect(ends(65_536).result).toHaveLength(65_534)
    expect(ends(65_537)).toMatchObject({ status: 'succeeded', resultOmitted: true })
    expect(ends(65_537)).not.toHaveProperty('result')
  })
})

describe('a run that an event of the engine started', () => {
  it('does not start its own workflow by the same event, but others', () => {
    const own = workflow('order', { triggers: [{ event: 'perdure/run.*' }] })
    const ofOwn = (fields: Partial<Run>, ...more: Workflow[]) =>
      given(run(fields))
        .registered(own, ...more)
        .when(rejected)
    expect(sent(ofOwn({}))).toHaveLength(1)
    expect(sent(ofOwn(startedBy(FAILED)))).toEqual([])
    expect(sent(ofOwn(startedBy('perdure/run.cancelled')))).toHaveLength(1)
    const [event] = sent(ofOwn(startedBy(FAILED), listens(FAILED)))
    expect(event?.engine).toEqual({ generation: 1, inRow: 1, notFor: { name: 'order', app: 'shop' } })
  })

  it('counts the events of the engine in a row, also over children', () => {
    const inRow = (engineEvents: number) => failing({ engineEvents }, listens(FAILED))
    expect(sent(inRow(6))[0]?.engine).toMatchObject({ inRow: 7 })
    const eighth = inRow(7)
    expect(sent(eighth)).toEqual([])
    expect(eighth.changes('log.written')).toMatchObject([
      { line: { level: 'warn', message: expect.stringContaining('8th') } },
    ])
    const starts = given(run({ engineEvents: 3 }))
      .registered(workflow('pack'))
      .when(reported(runsChild('a', 'pack')))
    expect(starts.created).toMatchObject({ workflow: 'pack', engineEvents: 3 })
  })

  it('is not started beyond the bound of generations', () => {
    const last = failing({ generation: 100 }, listens(FAILED))
    expect(sent(last)).toEqual([])
    expect(last.changes('log.written')).toMatchObject([{ line: { message: expect.stringContaining('is 100') } }])
  })
})

it('arrives for every workflow but the one it is not for, and the record keeps that', () => {
  const event = {
    namespace: 'default',
    id: 'evt_1',
    name: FAILED,
    app: 'shop',
    source: 'engine',
    receivedAt: NOW,
  } as const
  const workflows = [listens(FAILED, 'order'), listens(FAILED), workflow('all', { triggers: [{ event: '*' }] })]
  const notFor = { name: 'order', app: 'shop' }
  const { changes, triggered } = fanout({
    event,
    notFor,
    engineEvents: 2,
    catalog: catalog(...workflows),
    assumptions: noAssumptions(),
    report: () => {},
  })
  expect(triggered).toMatchObject([{ workflow: 'alert' }])
  expect(changes).toMatchObject([{ event: { decided: { notFor } } }, { run: { workflow: 'alert', engineEvents: 2 } }])
})

// A bundle is shown only if it has the form of a bundle; parts with another form are left out.

import { expect, it } from 'vitest'
import { readBundle } from './read-bundle.ts'

const RUN = { id: 'run_1', workflow: 'order', app: 'shop', status: 'failed', createdAt: '2026-03-01T09:00:00Z' }
const STEP = { id: 'a', name: 'a', op: 'StepRun', index: 0, status: 'failed', attempt: 1, startedAt: RUN.createdAt }
const FRAME = { kind: 'run_status', seq: 2, ts: RUN.createdAt, status: 'failed' }
const LINE = { seq: 1, ts: RUN.createdAt, level: 'info', message: 'hi', scope: '@root', attempt: 1 }
const text = (more: object) => JSON.stringify({ 'perdure-bundle': 1, run: RUN, ...more })

it('has the run, its steps, and its frames with the log lines in order', () => {
  const view = readBundle(text({ steps: [STEP, { id: 3 }, null], timeline: [FRAME, 7], logs: [LINE, LINE, {}] }))
  expect(view).toMatchObject({ isBundle: true, isLive: false, originMs: Date.parse(RUN.createdAt) })
  expect(view.steps).toHaveLength(1)
  expect(view.frames.map(({ kind, seq }) => [kind, seq])).toEqual([
    ['log', 1],
    ['run_status', 2],
  ])
})

it('says which section is not whole', () => {
  expect(readBundle(text({ steps: [STEP], truncated: { section: 'steps', reason: 'size' } })).truncatedIn).toBe('steps')
  expect(readBundle(text({}))).not.toHaveProperty('truncatedIn')
})

it('leaves out times that are none', () => {
  const run = { ...RUN, finishedAt: 'soon', startedAt: RUN.createdAt }
  const view = readBundle(text({ run, steps: [{ ...STEP, finishedAt: 7, nextAttemptAt: STEP.startedAt }] }))
  expect(view.run).toEqual({ ...RUN, startedAt: RUN.createdAt })
  expect(view.steps).toEqual([{ ...STEP, nextAttemptAt: STEP.startedAt }])
})

it('leaves out members that the page could not show', () => {
  const bad = { eventName: 7, parentRunId: null, triggerKind: [], progress: {}, attributes: null, error: null }
  const good = { eventName: 'e', progress: { value: null }, attributes: { a: 'b' }, error: { name: 'E', message: 'm' } }
  const errors = [null, 'x', {}, { message: 1 }, { message: 'm', stack: {} }].map(error => ({ ...STEP, error }))
  const view = readBundle(text({ run: { ...RUN, ...bad }, steps: errors }))
  expect([view.run, view.steps]).toEqual([RUN, errors.map(() => STEP)])
  expect(readBundle(text({ run: { ...RUN, ...good } })).run).toEqual({ ...RUN, ...good })
})

it.each([
  ['x', /not JSON/],
  ['[]', /not an object/],
  ['{}', /not a Perdure bundle/],
  ['{"perdure-bundle":2}', /version 2/],
  ['{"perdure-bundle":1,"run":{"id":"run_1"}}', /no workflow/],
  [text({ run: { ...RUN, createdAt: 'soon' } }), /no createdAt/],
  [text({ steps: {} }), /not a list/],
])('%s is refused', (bundle, reason) => {
  expect(() => readBundle(bundle)).toThrow(reason)
})

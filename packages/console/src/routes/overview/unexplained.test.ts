import { expect, test } from 'vitest'
import type { Limit } from '../limits/limit.ts'
import { unexplained } from './unexplained.ts'

const stats = (app: string, workflow: string, held: number) => ({ app, workflow, held })
const limit = (names: Partial<Limit>, waiting: number | string) => ({ kind: 'concurrency', ...names, waiting }) as Limit
const ofNamespace = (waiting: number | string) => limit({ scope: 'namespace' }, waiting)
const ofApp = (app: string, waiting: number) => limit({ scope: 'app', app }, waiting)
const ofWorkflow = (app: string, workflow: string, waiting: number) =>
  limit({ scope: 'workflow', app, workflow }, waiting)
const named = (held: ReturnType<typeof stats>[], limits: Limit[]) =>
  unexplained(held, limits).map(({ app, workflow }) => `${app}/${workflow}`)

test('a workflow whose own limit has waiting runs is not named again', () => {
  const held = [
    stats('shop', 'order', 2),
    stats('shop', 'sync', 1),
    stats('depot', 'order', 1),
    stats('shop', 'free', 0),
  ]
  expect(named(held, [ofWorkflow('shop', 'order', 2), ofWorkflow('shop', 'sync', 0)])).toEqual([
    'shop/sync',
    'depot/order',
  ])
})

test('the workflows of an app, or of the namespace, whose held runs all wait for limits are not named again', () => {
  const held = [stats('shop', 'order', 2), stats('shop', 'sync', 3), stats('depot', 'order', 1)]
  expect(named(held, [ofApp('shop', 5)])).toEqual(['depot/order'])
  expect(named(held, [ofApp('shop', 3), ofWorkflow('shop', 'order', 2)])).toEqual(['depot/order'])
  expect(named(held, [ofNamespace(4), ofApp('shop', 2)])).toEqual([])
  expect(named(held, [ofNamespace('10000+')])).toEqual([])
})

test('they are named where some of their runs may be held otherwise', () => {
  const held = [stats('shop', 'order', 2), stats('shop', 'sync', 3), stats('depot', 'order', 1)]
  expect(named(held, [ofApp('shop', 4)])).toEqual(['shop/order', 'shop/sync', 'depot/order'])
  expect(named(held, [ofNamespace(5)])).toEqual(['shop/order', 'shop/sync', 'depot/order'])
})

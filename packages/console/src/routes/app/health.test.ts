import { expect, test } from 'vitest'
import { type AppFacts, healthOf } from './health.ts'

const workflow = (name: string, more: object = {}) => ({ app: 'shop', name, ...more })
const runner = (runnerId: string, names: readonly string[], more: object = {}) => ({
  app: 'shop',
  runnerId,
  live: true,
  workflows: names.map(name => ({ name, definitionHash: '1' })),
  ...more,
})
const ends = (succeeded: number, failed: number, runner = 0) => ({ succeeded, failed, heldBy: { runner } })
const FACTS: AppFacts = {
  workflows: [workflow('order'), workflow('refund')],
  runners: [runner('a', ['order', 'refund'])],
  stats: [ends(90, 1), ends(9, 0)],
}
const health = (facts: Partial<AppFacts>) => {
  const { word, sentence } = healthOf({ ...FACTS, ...facts })
  return `${word}: ${sentence}`
}

test('an app without a problem is healthy, with the share of failed runs', () => {
  expect(healthOf(FACTS).status).toBe('succeeded')
  expect(health({})).toBe(
    'healthy: All 2 workflows have a live runner (1 in total), and 1 of 100 runs failed in this window.',
  )
  expect(health({ workflows: [workflow('order')], stats: [] })).toBe(
    'healthy: The workflow has a live runner (1 in total), and no runs ended in this window.',
  )
})

test('without a live runner the app is down, and the runs that wait for one are counted', () => {
  const runners = [runner('a', ['order', 'refund'], { live: false })]
  expect(health({ runners })).toBe('down: No runner is live.')
  expect(health({ runners, stats: [ends(0, 9, 3), ends(0, 0, 4)] })).toBe(
    'down: No runner is live, and 7 runs wait for one.',
  )
  expect(health({ runners: [], stats: [ends(0, 0, 1)] })).toBe('down: No runner is live, and 1 run waits for one.')
})

test.each<[string, Partial<AppFacts>]>([
  ['No workflow is registered.', { workflows: [] }],
  ['1 of 2 workflows has no live runner: refund.', { runners: [runner('a', ['order'])] }],
  [
    '5 of 5 workflows have no live runner: a, b, c, 2 others.',
    { workflows: ['a', 'b', 'c', 'd', 'e'].map(name => workflow(name)), runners: [runner('a', [])] },
  ],
  ['10 of the 100 runs that ended in this window failed.', { stats: [ends(90, 10)] }],
  [
    'Live runners disagree on the definition of order.',
    { runners: [...FACTS.runners, { ...runner('b', []), workflows: [{ name: 'order', definitionHash: '2' }] }] },
  ],
  ['1 of 2 runners is not live.', { runners: [...FACTS.runners, runner('b', ['order'], { live: false })] }],
  ['1 of 2 workflows is paused.', { workflows: [workflow('order', { pausedAt: 'now' }), workflow('refund')] }],
])('degraded: %s', (sentence, facts) => {
  expect(health(facts)).toBe(`degraded: ${sentence}`)
})

test('the most serious problem is the one that is named', () => {
  const runners = [runner('a', ['order']), runner('b', ['order'], { live: false })]
  expect(health({ runners, stats: [ends(0, 100)] })).toBe('degraded: 1 of 2 workflows has no live runner: refund.')
  expect(health({ stats: [ends(0, 100)], workflows: [workflow('order', { pausedAt: 'now' })] })).toBe(
    'degraded: 100 of the 100 runs that ended in this window failed.',
  )
})

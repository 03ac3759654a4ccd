import { expect, test } from 'vitest'
import { ranWords, runnersText, runnerWords } from './runners.ts'

test('runners of a group are in words, with the SDK if it is known', () => {
  expect(runnerWords({ runnerId: 'a', count: 2, sdkName: 'sdk', version: '1.0.0' })).toBe(
    'a: 2 runs, now with sdk 1.0.0',
  )
  expect(ranWords({ count: 1, version: '2' })).toBe('1 run, now with 2')
  expect(ranWords({ count: 1 })).toBe('1 run')
  const runners = ['a', 'b', 'c'].map(runnerId => ({ runnerId, count: 1 }))
  expect([0, 1, 2, 3].map(count => runnersText(runners.slice(0, count), 3))).toEqual([
    '',
    '1 runner',
    '2 runners',
    '3 or more runners',
  ])
})

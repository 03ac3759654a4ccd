// Among several walks, the one that reaches furthest makes the reads.

import { expect, test } from 'vitest'
import { derivedId } from '../../../../domain/text/ids.ts'
import { WalkChoice } from './walk-choice.ts'

const at = (ms: number) => derivedId('run', ms)

/** Goes through the list with walks that reach this many ms per run looked at; returns the walk of each read. */
function choicesOf(reaches: readonly number[], reads: number): number[] {
  const choice = new WalkChoice(reaches.length)
  const chosen: number[] = []
  let from: number | undefined
  for (let read = 0; read < reads; read++) {
    chosen.push(choice.current)
    const to = (from ?? 1e9) + (reaches[choice.current] as number) * 100
    choice.wentOn(from === undefined ? undefined : at(from), at(to), 100)
    from = to
  }
  return chosen
}

test('one walk makes every read', () => {
  expect(choicesOf([5], 20)).toEqual(Array.from({ length: 20 }, () => 0))
})

test('each is measured, and the one that reaches furthest goes on', () => {
  expect(choicesOf([2, 9, 5], 12)).toEqual([0, 0, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1])
  expect(choicesOf([9, 2], 8)).toEqual([0, 0, 1, 0, 0, 0, 0, 0])
})

test('all are measured again from time to time', () => {
  expect(choicesOf([2, 9], 20).slice(15)).toEqual([1, 0, 1, 1, 1])
})

test('runs of one time leave the first walk', () => {
  expect(choicesOf([0, 0], 6)).toEqual([0, 0, 1, 0, 0, 0])
})

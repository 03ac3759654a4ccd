// A runner leaves with the last of its processes.

import { expect, test } from 'vitest'
import { NOW, runner, SECOND } from '../testkit/nouns.testkit.ts'
import { instancesOf, withoutInstance } from './leaving.ts'

const staleAfterMs = 90 * SECOND
const at = (instance?: string, now = NOW) => ({ instance, now, staleAfterMs })

test('a registration adds its instance, and drops those that were silent for too long', () => {
  const row = runner('r', { instances: { a: NOW - staleAfterMs - 1, b: NOW - staleAfterMs } })
  expect(instancesOf(row, at('c'))).toEqual({ b: NOW - staleAfterMs, c: NOW })
  expect(instancesOf(row, at('b'))).toEqual({ b: NOW })
  expect(instancesOf(undefined, at())).toBeUndefined()
})

test('a runner keeps the fifty instances that were seen last', () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`i${i}`, NOW - 60 + i]))
  const kept = Object.keys(instancesOf(runner('r', { instances: many }), at('new')) ?? {})
  expect(kept).toHaveLength(50)
  expect(kept).toEqual(expect.arrayContaining(['new', 'i59', 'i11']))
})

test('one of several instances goes, and the runner stays', () => {
  const row = runner('r', { instances: { a: NOW, b: NOW } })
  expect(withoutInstance(row, at('a'))).toEqual(runner('r', { instances: { b: NOW } }))
})

test.each([
  ['the last instance', { a: NOW }, 'a'],
  ['the last live one', { a: NOW, b: NOW - staleAfterMs - 1 }, 'a'],
  ['a process that names no instance', { a: NOW }, undefined],
  ['the process of a row without instances', undefined, 'a'],
])('with %s the runner has left', (_, instances, instance) => {
  const row = runner('r', instances ? { instances } : {})
  expect(withoutInstance(row, at(instance))).toEqual({ ...runner('r'), hasLeft: true })
})

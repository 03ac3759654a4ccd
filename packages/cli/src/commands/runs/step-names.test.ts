import { hashStepId } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { stepNames } from './step-names.ts'

const step = (name: string, stepId = name) => ({ name, id: hashStepId(stepId) })

test('a name has its number from its second use on, in whatever order the steps are', () => {
  const steps = [step('poll', 'poll:2'), step('pay'), step('poll'), step('poll', 'poll:1')]
  expect(steps.map(({ id }) => stepNames(steps).get(id))).toEqual(['poll:2', 'pay', 'poll', 'poll:1'])
})

test('a use is found where others are missing', () => {
  const steps = [step('poll', 'poll:7'), step('poll:1'), step('poll', 'poll:2')]
  expect(steps.map(({ id }) => stepNames(steps).get(id))).toEqual(['poll:7', 'poll:1', 'poll:2'])
})

test('a step with an id of another make keeps its name', () => {
  expect(stepNames([{ name: 'poll', id: 'a-1' }])).toEqual(new Map([['a-1', 'poll']]))
})

import { expect, test } from 'vitest'
import { oldNodeProblem } from './old-node.ts'

test('a Node before 20.19 is too old', () => {
  for (const version of ['18.20.8', '20.18.3', '16.0.0'])
    expect(oldNodeProblem(version)).toContain(`is Node ${version}:`)
  for (const version of ['20.19.0', '20.20.2', '22.0.0', '26.1.0']) expect(oldNodeProblem(version)).toBeUndefined()
  expect(oldNodeProblem()).toBeUndefined()
})

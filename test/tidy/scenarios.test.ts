// Every flow-control policy and every operation of the HTTP API has its own scenario. Opcodes and error codes need no list here,
// because scenarios that go through all of them (test/scenario/run/reads.test.ts, test/scenario/http) notice a new one.

import { operationList } from '@perdure/protocol/operations'
import { expect, test } from 'vitest'
import { flowControlMembers } from '../../packages/protocol/src/wire/flow-control-schema.ts'
import { filesLike } from './files.ts'

const textOf = (pattern: RegExp) =>
  filesLike(pattern)
    .map(({ text }) => text)
    .join('\n')

test.each(Object.keys(flowControlMembers))('the policy %s has a scenario', policy => {
  expect(textOf(/^test\/scenario\/flow\/.*\.test\.ts$/)).toMatch(new RegExp(`\\b${policy}\\b`))
})

/** The scenarios, and the test kit that they call. */
const CALLS = textOf(/^test\/(scenario\/.*\.test\.ts|kit\/.*\.ts)$/)

test.each(operationList)('the operation $id has a scenario', ({ path }) => {
  const filled = path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '(\\$\\{[^}]*\\}|[\\w-]+)')
  expect(new RegExp(`['"\`}]${filled}(?=['"\`?$])`).test(CALLS)).toBe(true)
})

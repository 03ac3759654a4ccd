// Every flow-control policy has a scenario in test/scenario/flow. Opcodes, operations and error codes need no list here: scenarios
// that go through all of them (test/scenario/run/reads.test.ts, test/scenario/http) notice a new one.

import { expect, test } from 'vitest'
import { flowControlMembers } from '../../packages/protocol/src/wire/flow-control-schema.ts'
import { filesLike } from './files.ts'

const scenarios = filesLike(/^test\/scenario\/flow\/.*\.test\.ts$/)

test.each(Object.keys(flowControlMembers))('the policy %s has a scenario', policy => {
  expect(scenarios.some(({ text }) => new RegExp(`\\b${policy}\\b`).test(text))).toBe(true)
})

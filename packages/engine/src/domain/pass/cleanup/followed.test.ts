// The run that a cleanup run follows, as it appears in the cleanup run's invokes (docs/wire-protocol.md#cleanup).

import { expect, it } from 'vitest'
import { given } from '../../testkit/given.testkit.ts'
import { cancelled, endedRun, failed, idOf, succeeded } from '../../testkit/nouns.testkit.ts'
import { cleanupContext } from './followed.ts'

it('has the steps with an outcome in the order of their settlement, with payloads to the letter', () => {
  const source = endedRun('failed', { error: { message: 'broken', code: 'step_failed', stepName: 'b' } })
  const steps = [succeeded('late', '{ "n": 1.0 }', { rollback: true }), failed('b'), cancelled('w'), succeeded('early')]
  const { state } = given(source, ...steps)
  const rows = [...state.steps.values()].map((step, i) => ({ ...step, seq: 20 - i }))
  const text = cleanupContext({ run: state.run, steps: rows, rootLogged: 0 })
  const { steps: entries, ...head } = JSON.parse(text)
  expect(head).toMatchObject({ runId: 'run_1', status: 'failed', error: { message: 'broken' } })
  expect(Object.keys(entries)).toEqual(['early', 'b', 'late'].map(idOf))
  expect(entries[idOf('early')]).toEqual({ op: 'StepRun', name: 'early', data: null })
  expect(entries[idOf('b')]).toMatchObject({ op: 'StepRun', name: 'b', error: { message: expect.any(String) } })
  expect(text).toContain('"name":"late","rollback":true,"data":{ "n": 1.0 }}')
})

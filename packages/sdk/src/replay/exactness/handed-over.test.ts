// Results that the handler gets before they are stored arrive in the same order as in every later pass.

import { expect, test } from 'vitest'
import { signal } from '../engine.testkit.ts'
import { CheckpointedPass } from './checkpointed-pass.testkit.ts'

test('the result of a step is not handed over in the place of a branch that was cut off', async () => {
  const seen: string[] = []
  const [open, slow] = [signal(), signal()]
  const pass = new CheckpointedPass(
    ({ step }) =>
      Promise.all([
        step.sleep('nap', 1).then(() => seen.push('nap')),
        step.run('open', () => open.promise).then(() => seen.push('open')),
        step.race({
          slow: () => step.run('slow', () => slow.promise),
          fast: () => step.emit('fast', { event: 'won' }),
        }),
      ]),
    false,
    {},
    ['end-with-steps'],
  )
  const first = await pass.report()
  open.resolve()
  slow.resolve()
  await new Promise(resolve => setImmediate(resolve))
  first.acknowledge()
  const second = await pass.report()
  expect(second.opcodes.map(({ name }) => name)).toEqual(['open', 'slow'])
  const [napped, done] = [first.opcodes.find(({ op }) => op === 'Sleep'), second.opcodes]
  // The nap ended first in the store, so every later pass sees it first.
  second.acknowledge({ steps: [{ id: napped?.id as string, data: null }, ...done.map(({ id }) => ({ id }))] })
  await pass.ended
  expect(seen).toEqual(['nap', 'open'])
})

// The hub and the output streams of runs. Their positions are offsets instead of frame seqs.

import { expect, test } from 'vitest'
import { openHub, until } from '../../kit/browser/hub.ts'

const step = (seq: number) => ({ kind: 'step_status', runId: 'run_1', seq, name: 's', status: 'succeeded' })

test('an output stream resumes at its offset, beside the timeline of its run, and a later tab gets it from the start', async () => {
  const { tab, streams, tick } = await openHub()
  const part = (first: number, count: number) => ({
    kind: 'stream',
    runId: 'run_1',
    name: 'answer',
    offset: String(first + count).padStart(16, '0'),
    messages: Array.from({ length: count }, (_, i) => ({ n: first + i, chunk: 'x' })),
  })
  const one = tab()
  one.follow(['run:run_1', 'run:run_1:answer'])
  await until(() => streams.length === 1)
  await streams[0]?.write(step(1), part(0, 3))
  await until(() => {
    tick()
    return one.seqs().length === 2
  })
  streams[0]?.drop()
  await until(() => {
    tick()
    return streams.length === 2
  })
  expect(streams[1]?.topics).toEqual(['run:run_1@1', 'run:run_1:answer@3'])
  await streams[1]?.write(part(3, 2))
  await until(() => {
    tick()
    return one.seqs().length === 3
  })
  expect(one.seqs()).toEqual([1, 3, 5])
  const two = tab()
  two.follow(['run:run_1:answer'])
  await until(() => {
    tick()
    return streams.length === 3
  })
  expect(streams[2]?.topics).toEqual(['run:run_1@1', 'run:run_1:answer'])
  await streams[2]?.write(part(0, 5))
  await until(() => {
    tick(1)
    return two.seqs().length === 1
  })
  expect([one.seqs(), two.seqs()]).toEqual([[1, 3, 5], [5]])
})

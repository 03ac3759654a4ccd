// Runs the code blocks of docs/streams.md on a real engine: each block is in `streams.workflows.ts` (`snippets.test.ts` checks that).

import { serve } from '@perdure/sdk/node'
import { expect, test } from 'vitest'
import { onCleanup, scenario } from '../../kit/index.ts'
import { answer, report } from './streams.workflows.ts'

const { api, url } = await scenario()
const runner = await serve({ app: 'docs', workflows: [answer, report], port: 0, engineUrl: url, log: () => {} })
onCleanup(() => runner.close())
await runner.ready

const resultOf = async (name: string, data: object) => {
  const { runId } = await api.send({ name, data })
  return (await api.succeeded(runId as string)).result
}

test('a step gives the text that it has streamed', async () => {
  expect(await resultOf('docs-answer', { question: 'tea' })).toBe('About tea')
})

test('pipe gives back what it has read', async () => {
  expect(await resultOf('docs-report', {})).toEqual({ count: 2 })
})

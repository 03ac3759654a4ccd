// The result of a run that another engine on the same PostgreSQL database drives (docs/events.md#wait-for-the-result).

import { expect, test } from 'vitest'
import { freshSchema, gate, openEngine, returned } from '../../kit/index.ts'

test('a caller that waits at one engine gets the result of a run of the other', async () => {
  const storeFile = await freshSchema()
  const env = { ENGINE_QUEUE: 'memory' }
  const [one, two] = [await openEngine({ storeFile, env }), await openEngine({ storeFile, env })]
  const opened = gate()
  await one.runner({
    workflows: {
      slow: async () => {
        await opened.opened
        return returned('done')
      },
    },
  })
  const { runId } = (await one.api.post('/events', { name: 'slow' })).json as { runId: string }
  const waited = two.api.get(`/runs/${runId}/result?wait=30s`)
  const late = two.api.get(`/runs/${runId}/result?wait=50`)
  expect(await late).toMatchObject({ status: 202, json: { runId, status: 'running' } })
  opened.open()
  expect(await waited).toMatchObject({ status: 200, json: { runId, status: 'succeeded', result: 'done' } })
})

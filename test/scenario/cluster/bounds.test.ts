// Bounds of a namespace at two engines on one PostgreSQL database (docs/limits.md#bounds).

import { expect, test } from 'vitest'
import { freshSchema, openEngine } from '../../kit/index.ts'

const storeFile = await freshSchema()
const env = { ENGINE_QUEUE: 'memory', ENGINE_RUNNER_LIMIT: '4', ENGINE_WORKFLOW_LIMIT: '5' }
const engines = [await openEngine({ storeFile, env }), await openEngine({ storeFile, env })] as const

/** Registers this many runners at once, at the two engines in turn; returns the sorted statuses. */
async function registerMany(count: number, fieldsOf: (i: number) => object): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      engines[(i % 2) as 0 | 1].api.post('/register', { app: 'shop', url: 'http://127.0.0.1:9/', ...fieldsOf(i) }),
    ),
  )
  return answers.map(({ status }) => status).sort()
}

test('registrations at both at the same time fill the bounds exactly', async () => {
  const statuses = await registerMany(24, i => ({ runner: `r${i}`, workflows: [] }))
  expect(statuses).toEqual([...Array(4).fill(200), ...Array(20).fill(429)])
  for (const { api } of engines) expect((await api.get('/runners')).json).toHaveLength(4)

  const runners = ((await engines[0].api.get('/runners')).json as { runnerId: string }[]).map(
    ({ runnerId }) => runnerId,
  )
  const more = await registerMany(8, i => ({
    runner: runners[i % 4],
    workflows: [{ name: `w${i}` }, { name: 'same' }],
  }))
  expect(more.filter(status => status !== 200 && status !== 400)).toEqual([])
  for (const { api } of engines) expect(((await api.get('/workflows')).json as object[]).length).toBeLessThanOrEqual(5)
})

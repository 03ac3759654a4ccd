// A flood of posts: passes continue, other senders are served, and refused posts are not stored
// (docs/limits.md#senders-and-runs).

import { expect, test } from 'vitest'
import { type Answer, apiKeys, flow, keyOf, openEngine, openRunner, run, STORES, unique } from '../../kit/index.ts'

const WAITING = 20
/** Posts that are sent at once. */
const WAVE = 200
const WAVES_MAX = 20

test.for(STORES)('on %s every post is stored and its run ends, or it is 503 and stored nothing', async ([, fresh]) => {
  const { api } = await openEngine({
    storeFile: await fresh(),
    env: { ENGINE_API_KEYS: apiKeys('secret of loud', 'secret of quiet') },
    bounds: {
      passesMax: 6,
      http: {
        acceptsMax: 4,
        fullAcceptsMax: 1,
        acceptsWaitingMax: { all: 1000, perNamespace: WAITING, perKey: WAITING },
      },
    },
  })
  const [loud, quiet] = [api.as(keyOf('secret', 'loud')), api.as(keyOf('secret', 'quiet'))]
  const name = unique('workflow')
  const runner = await openRunner({ workflows: { [name]: flow([run('one'), run('two')]) } })
  await runner.register(loud)
  await runner.register(quiet)

  const answers: Answer[] = []
  const isRefused = ({ status }: Answer) => status === 503
  // An engine may be fast enough for the sockets of one wave.
  for (let wave = 0; wave < WAVES_MAX && !answers.some(isRefused); wave++) {
    const flood = Array.from({ length: WAVE }, (_, n) => loud.post('/events', { name, data: answers.length + n }))
    const other = await quiet.send({ name })
    answers.push(...(await Promise.all(flood)))
    await quiet.succeeded(other.runId)
  }

  const refused = answers.filter(isRefused)
  expect(refused.length).toBeGreaterThan(0)
  for (const { code, headers } of refused) expect([code, headers.get('retry-after')]).toEqual(['overloaded', '1'])
  const accepted = answers.filter(({ status }) => status === 202).map(({ json }) => (json as { runId: string }).runId)
  expect(accepted.length).toBe(answers.length - refused.length)
  expect(accepted.length).toBeGreaterThanOrEqual(WAITING)
  for (const runId of accepted) await loud.succeeded(runId)
  const stored = (await loud.pages<{ data: number }>('/events?limit=100')).flat()
  expect(stored).toHaveLength(accepted.length)
  expect(stored.every(({ data }) => answers[data]?.status === 202)).toBe(true)
})

// Silent runners at two engines on one PostgreSQL database: one engine forgets them, and the other is notified.

import { expect, test } from 'vitest'
import { freshSchema, JumpClock, openEngine, until } from '../../kit/index.ts'

test('each silent runner is forgotten once, at both', async () => {
  const storeFile = await freshSchema()
  const clock = new JumpClock()
  const open = () => openEngine({ storeFile, clock, env: { ENGINE_QUEUE: 'memory' } })
  const engines = [await open(), await open()]
  const register = (i: number) =>
    engines[i % 2]?.api.post('/register', { app: 'shop', url: `http://127.0.0.1:9/${i}`, workflows: [] })
  for (let i = 0; i < 6; i++) await register(i)
  clock.jump(20 * 3_600_000)
  await register(0)
  clock.jump(5 * 3_600_000)
  const left = async ({ api }: (typeof engines)[number]) => ((await api.get('/runners')).json as object[]).length
  for (const engine of engines)
    await until(async () => {
      clock.jump(60_000)
      return (await left(engine)) === 1
    })
  const counts = engines.flatMap(({ log }) =>
    log.filter(line => line.includes('were removed')).map(line => JSON.parse(line).runners as number),
  )
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5)
})

// `GET /engines` when two engines share one PostgreSQL database: each lists both, until one stops or dies
// (docs/postgresql.md#engines-of-a-store).

import type { Engine } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { openPostgresStore } from '../../../packages/engine/src/adapters/sql/postgres/store.ts'
import { freshSchema, JumpClock, openEngine, until } from '../../kit/index.ts'

const storeFile = await freshSchema()
const clock = new JumpClock()
const open = () => openEngine({ storeFile, clock })
const [first, second] = [await open(), await open()]

const listed = async ({ api }: typeof first) => (await api.get('/engines')).json as Engine[]
const ageOf = (seenAt: string) => clock.now() - Date.parse(seenAt)

/** The engine that answers. */
const selfOf = async (engine: typeof first) => (await listed(engine)).filter(({ self }) => self)

test('both list both, each knows itself, and a report is at most 5 s old', async () => {
  await until(async () => (await listed(first)).length === 2 && (await listed(second)).length === 2)
  const [[one], [other]] = [await selfOf(first), await selfOf(second)]
  expect(one?.id).not.toBe(other?.id)
  // Each engine shows the report of the other engine.
  const [seen] = (await listed(first)).filter(({ id }) => id === other?.id)
  expect(seen).toMatchObject({ self: false, queue: 'database', checks: { store: 'ok' }, settings: other?.settings })
  expect(Object.keys(seen?.settings ?? {})).toContain('ENGINE_DRAIN_TIMEOUT')
  expect(seen?.writes).toEqual(expect.objectContaining({ commits: expect.any(Number), batches: expect.any(Number) }))
  for (const engine of [first, second])
    expect((await listed(engine)).map(({ id }) => id).sort()).toEqual([one?.id, other?.id].sort())
  clock.jump(5000)
  await until(async () => (await listed(first)).every(({ seenAt }) => ageOf(seenAt) === 0))
})

test('an engine that died is listed for a minute after its last report, and its row is removed after an hour', async () => {
  const store = await openPostgresStore({ url: storeFile })
  const [self] = await selfOf(first)
  const { version, host, pid, sockets, streams, queue, limiter, settings, checks } = self as Required<Engine>
  const process = { version, host, pid, sockets, streams, queue, limiter, settings, checks }
  const report = { ...process, id: 'engine_dead', startedAt: 0, seenAt: clock.now(), isDraining: true, lanes: [] }
  await store.engines.put(report, 0)
  const dead = async () => (await listed(second)).find(({ id }) => id === 'engine_dead')
  expect(await dead()).toMatchObject({ self: false, draining: true, inFlight: 0, lanes: [] })
  clock.jump(60_000)
  expect(await dead()).toBeDefined()
  clock.jump(1)
  expect(await dead()).toBeUndefined()
  const rows = () => store.engines.list({ since: 0, limit: 10 })
  expect((await rows()).map(({ id }) => id)).toContain('engine_dead')
  clock.jump(3_600_000)
  await until(async () => !(await rows()).some(({ id }) => id === 'engine_dead'))
  await store.close()
})

test('an engine that stops in order is gone at once; a listing has the newest reports', async () => {
  await until(async () => (await listed(first)).length === 2)
  await second.stop()
  expect(await listed(first)).toMatchObject([{ self: true }])

  const store = await openPostgresStore({ url: storeFile })
  const [self] = await store.engines.list({ since: 0, limit: 1 })
  const report = self as NonNullable<typeof self>
  const reports = Array.from({ length: 300 }, (_, i) => ({ ...report, id: `engine_${i}`, startedAt: i }))
  await Promise.all(reports.map((one, i) => store.engines.put({ ...one, seenAt: clock.now() + i }, 0)))
  await store.close()
  const engines = await listed(first)
  expect(engines).toHaveLength(256)
  expect(engines.filter(one => one.self)).toHaveLength(1)
  expect(engines[0]?.id).toBe('engine_45')
})

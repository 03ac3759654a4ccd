// A store that takes no more writes: callers get 503 and may try again, readiness agrees, and the engine continues by itself
// when PostgreSQL accepts writes again.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { freshSchema, onCleanup, openEngine } from '../../kit/index.ts'
import { fill, schemaOn, smallFileSystem } from '../../kit/servers/full-disk.ts'

const UNAVAILABLE = { status: 503, json: { error: { code: 'unavailable' } } }
const NOT_READY = { status: 503, json: { status: 'not_ready', checks: { store: 'unavailable' } } }
/** An event that needs new pages. It does not compress. */
const LARGE = { name: 'order.placed', data: Array.from({ length: 4000 }, (_, i) => Math.sin(i)) }
const SMALL = { name: 'order.placed', data: 1 }

const folder = smallFileSystem(16 * 1024)
const storeFile = folder && (await schemaOn(folder))

test.skipIf(storeFile === undefined)(
  'a full disk under PostgreSQL (needs root): 503 until it has room, and /readyz agrees',
  async () => {
    const engine = await openEngine({ storeFile: storeFile as string })
    expect((await engine.api.post('/events', LARGE)).status).toBe(202)
    fill(folder as string)
    const accepted: unknown[] = []
    let refused = await engine.api.post('/events', LARGE)
    // Existing pages of the tables may take a few.
    for (let i = 0; i < 100 && refused.status === 202; i++) {
      accepted.push(refused.json)
      refused = await engine.api.post('/events', LARGE)
    }
    expect(refused).toMatchObject(UNAVAILABLE)
    expect(refused.headers.get('retry-after')).toBe('1')
    // Small writes find room in existing pages: readiness must not depend on one of those.
    const statuses = [
      (await engine.api.post('/events', SMALL)).status,
      (await engine.api.get('/events?limit=1')).status,
    ]
    expect(statuses).toEqual([202, 200])
    for (let i = 0; i < 2; i++) expect(await engine.api.get('/readyz')).toMatchObject(NOT_READY)
    rmSync(join(folder as string, 'fill'))
    expect((await engine.api.get('/readyz')).status).toBe(200)
    expect((await engine.api.post('/events', LARGE)).status).toBe(202)
    for (const { eventId } of accepted as { eventId: string }[])
      expect((await engine.api.get(`/events/${eventId}`)).status).toBe(200)
    const errors = engine.takeErrors().join('\n')
    expect(errors).toContain('No space left on device')
    expect(errors).not.toContain('connection to the store was lost')
  },
)

test.each([
  ['io_error', '58030'],
  ['read_only_sql_transaction', '25006'],
])('PostgreSQL with %s (%s): 503 and not ready, until it takes writes again', async (_, sqlstate) => {
  const url = await freshSchema()
  const engine = await openEngine({ storeFile: url })
  const client = new Client({ connectionString: url })
  await client.connect()
  onCleanup(() => client.end())
  await client.query(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no writes' USING ERRCODE = '${sqlstate}'; END $$`)
  const tables = ['events', 'probes']
  for (const table of tables)
    await client.query(`CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON ${table} EXECUTE FUNCTION fail()`)
  const answers = await Promise.all([engine.api.post('/events', SMALL), engine.api.get('/readyz')])
  expect(answers).toMatchObject([UNAVAILABLE, NOT_READY])
  for (const table of tables) await client.query(`DROP TRIGGER fail ON ${table}`)
  expect((await engine.api.get('/readyz')).status).toBe(200)
  expect((await engine.api.post('/events', SMALL)).status).toBe(202)
  expect(engine.takeErrors().length).toBeGreaterThan(0)
})

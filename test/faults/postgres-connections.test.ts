// PostgreSQL connections that end in the middle of something: at the server's own bounds, by an administrator, or in a network
// that drops everything. Callers get their answer in time, nothing is lost or done twice, and no lock stays behind.

import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { openPostgresStore, type PostgresStore } from '../../packages/engine/src/adapters/sql/postgres/store.ts'
import { aRun, created, NOW, write } from '../contract/store/samples.ts'
import { flow, freshSchema, gate, onCleanup, openEngine, POSTGRES_URL, run, unique, until } from '../kit/index.ts'
import { claimOf, isClaimed } from '../kit/servers/once.ts'
import { TcpProxy } from '../kit/servers/tcp-proxy.ts'
import { WriteLock } from '../kit/servers/write-lock.ts'

/** The longest wait of a caller, whatever happened to the connection. */
const ANSWER_MS_MAX = 15_000
const LEASE_MS = 15_000

/** The address with one of the server's bounds set. */
function bounded(url: string, bound: string): string {
  const with_ = new URL(url)
  with_.searchParams.set('options', `${with_.searchParams.get('options')} -c ${bound}`)
  return with_.href
}

async function open(url: string): Promise<PostgresStore & { troubles: string[] }> {
  const troubles: string[] = []
  const log = { error: (_: object, message: string) => void troubles.push(message) }
  const store = await openPostgresStore({ url, log })
  onCleanup(() => store.close())
  return Object.assign(store, { troubles })
}

async function sqlOn(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onCleanup(() => client.end())
  return client
}

/** How long a call takes to fail when the store is not reachable. */
async function refusedAfter(work: Promise<unknown>): Promise<number> {
  const begunAt = performance.now()
  await expect(work).rejects.toMatchObject({ code: 'unavailable' })
  return performance.now() - begunAt
}

describe('a connection that ends inside a claim', async () => {
  const url = await freshSchema()
  const proxy = await TcpProxy.open(POSTGRES_URL, 5432)
  const [cut, other] = [await open(proxy.urlOf(url)), await open(url)]
  const lock = await WriteLock.of(url)
  const claim = (store: PostgresStore, owner: string, now = NOW) =>
    store.claimRuns({ owner, now, leaseUntil: now + LEASE_MS, limit: 100 })
  const idsOf = (claimed: Awaited<ReturnType<typeof claim>>) => claimed.map(({ run }) => run.id)
  /** Runs that are due and not claimed by any engine. */
  async function due(): Promise<string[]> {
    await claim(other, unique('before'), NOW + 10 * LEASE_MS)
    const runs = [aRun(), aRun(), aRun()]
    await write(other, ...runs.map(run => created(run)))
    return runs.map(({ id }) => id)
  }

  test('before it took its leases: another connection, or the same engine, takes them at once', async () => {
    const ids = await due()
    const owner = unique('owner')
    proxy.cutAt(owner, 'before')
    await refusedAfter(claim(cut, owner))
    expect(proxy.cuts).toBe(1)
    await until(async () => !(await lock.isHeld()), { what: 'the lock' })
    expect(idsOf(await claim(cut, owner))).toEqual(ids)
    expect(idsOf(await claim(other, unique('owner')))).toEqual([])
  })

  test('after its commit, whose answer is lost: no other engine has the runs, and they come back when the leases run out', async () => {
    const ids = await due()
    proxy.cutAt('COMMIT', 'answer')
    await refusedAfter(claim(cut, unique('owner')))
    expect(await lock.isHeld()).toBe(false)
    expect(idsOf(await claim(other, unique('owner'), NOW + LEASE_MS - 1))).toEqual([])
    expect(idsOf(await claim(cut, unique('owner'), NOW + LEASE_MS))).toEqual(ids)
  })

  test('while it waits for the lock, by an administrator: the next claim takes the runs', async () => {
    const ids = await due()
    await lock.take()
    const claimed = refusedAfter(claim(cut, unique('owner')))
    const [waiting] = await until(async () => {
      const waiting = await lock.waiting()
      return waiting.length === 1 && waiting
    })
    await lock.terminate(waiting?.pid as number)
    await claimed
    expect(await lock.waiting()).toEqual([])
    await lock.release()
    expect(idsOf(await claim(cut, unique('owner')))).toEqual(ids)
  })

  test('because its transaction is idle: other engines go on at once, the frozen one afterwards', async () => {
    const ids = await due()
    const idle = await open(proxy.urlOf(bounded(url, 'idle_in_transaction_session_timeout=300')))
    const owner = unique('owner')
    proxy.cutAt(owner, 'swallow')
    const claimed = refusedAfter(claim(idle, owner))
    await until(() => proxy.cuts === 3)
    expect(await lock.isHeld()).toBe(true)
    const begunAt = performance.now()
    await other.commit(claimOf(owner))
    expect(performance.now() - begunAt).toBeLessThan(5000)
    expect(await claimed).toBeLessThan(ANSWER_MS_MAX)
    proxy.release()
    // The swallowed bytes now arrive at a connection that has ended.
    expect(idsOf(await claim(idle, owner))).toEqual(ids)
  })
})

describe.each([
  ['lock_timeout=200', 'waited too long for its turn'],
  ['statement_timeout=200', 'took too long'],
])('a statement that the server ends by %s', bound => {
  test('makes a commit be sent again and written once; a claim fails, and is repeated later', async () => {
    const url = await freshSchema()
    const store = await open(bounded(url, bound))
    const lock = await WriteLock.of(url)
    const run = aRun()
    await write(store, created(run))
    const id = unique('slow')
    await lock.take()
    const commit = store.commit(claimOf(id))
    const tried = new Set<number>()
    await until(async () => {
      for (const { pid } of await lock.waiting()) tried.add(pid)
      return tried.size >= 2
    })
    await lock.release()
    await commit
    expect(await isClaimed(store, id)).toBe(true)
    await expect(store.commit(claimOf(id))).rejects.toMatchObject({ name: 'StaleError' })

    await lock.take()
    const claim = { owner: 'engine', now: NOW, leaseUntil: NOW + LEASE_MS, limit: 1 }
    await refusedAfter(store.claimRuns(claim))
    expect(await lock.waiting()).toEqual([])
    await lock.release()
    expect(await store.claimRuns(claim)).toMatchObject([{ run: { id: run.id } }])
  })
})

// These tests wait seconds for bounds to pass, so they run at the same time.
describe.concurrent('an answer that does not come', () => {
  test('because the server works on it is waited for without a bound, and the connection stays', async () => {
    const url = await freshSchema()
    const store = await open(url)
    const lock = await WriteLock.of(url)
    const id = unique('patient')
    await lock.take()
    const commit = store.commit(claimOf(id))
    const tried = new Set<number>()
    await until(async () => {
      const waiting = await lock.waiting()
      for (const { pid } of waiting) tried.add(pid)
      return waiting.some(({ ms }) => ms > 8000)
    })
    await lock.release()
    await commit
    expect(tried.size).toBe(1)
    expect(store.troubles).toEqual([])
  })

  test('because a network swallows everything: callers fail within 15 s, and a late copy is not written a second time', async () => {
    const url = await freshSchema()
    const proxy = await TcpProxy.open(POSTGRES_URL, 5432)
    const store = await open(proxy.urlOf(url))
    const id = unique('swallowed')
    proxy.cutAt(id, 'swallow')
    const refusals = [refusedAfter(store.commit(claimOf(id)))]
    await until(() => proxy.cuts === 1)
    refusals.push(refusedAfter(store.commit(claimOf(unique('behind')))))
    refusals.push(refusedAfter(store.claimRuns({ owner: 'o', now: NOW, leaseUntil: NOW + 1, limit: 1 })))
    refusals.push(refusedAfter(isClaimed(store, id)))
    for (const ms of await Promise.all(refusals)) expect(ms).toBeLessThan(ANSWER_MS_MAX)
    const direct = await open(url)
    proxy.release()
    // This happens before anything else is written: after a later batch of its writer, the late copy would be skipped.
    await until(() => isClaimed(direct, id), { what: 'the late copy' })
    await until(() => store.commit(claimOf(unique('back'))).then(() => true))
    await expect(store.commit(claimOf(id))).rejects.toMatchObject({ name: 'StaleError' })
  })

  test('ends readiness within 5 s, which is back within 10 s of the return; events are refused or taken once, runs end', async () => {
    const proxy = await TcpProxy.open(POSTGRES_URL, 5432)
    const engine = await openEngine({ storeFile: proxy.urlOf(await freshSchema()) })
    const { api } = engine
    const name = unique('work')
    const hold = gate()
    const { record } = await engine.runner({
      workflows: { [name]: flow([run('first', () => hold.opened), run('second')]) },
    })
    const { runId } = await api.send({ name })
    await until(() => record.times(runId, 'first') === 1)
    proxy.swallow()
    hold.open()
    const event = { name, dedupeId: unique('once') }
    const sentAt = performance.now()
    const refused = api.post('/events', event).then(({ status }) => ({ status, ms: performance.now() - sentAt }))
    const isReady = async () => (await api.get('/readyz')).status === 200
    await until(async () => !(await isReady()), { what: 'not being ready', deadlineMs: 5000 })
    const { status, ms } = await refused
    expect(status).toBe(503)
    expect(ms).toBeLessThan(ANSWER_MS_MAX)
    proxy.release()
    await until(isReady, { what: 'being ready again', deadlineMs: 10_000 })
    await api.post('/events', event)
    const runs = await until(async () => {
      const runs = await api.runs(`?q=${name}`)
      return runs.length > 1 && runs
    })
    expect(runs).toHaveLength(2)
    for (const { id } of runs) await api.reaches(id, 'succeeded', 40_000)
    expect(engine.takeErrors().length).toBeGreaterThan(0)
  })
})

describe('what writers leave behind', () => {
  test('is removed a day later, at the next start, except what may still be needed', async () => {
    const url = await freshSchema()
    const [writing, sql] = [await open(url), await sqlOn(url)]
    await writing.commit(claimOf('first'))
    const { rows } = await sql.query<{ writer: string }>('SELECT writer FROM writers')
    expect(rows).toHaveLength(1)
    await sql.query(`INSERT INTO writers VALUES ('gone', 7, '{0}', now() - interval '25 hours'),
      ('recent', 7, '{0}', now() - interval '23 hours')`)
    const closing = await open(url)
    await closing.commit(claimOf('second'))
    const left = async () =>
      (await sql.query<{ writer: string }>('SELECT writer FROM writers')).rows.map(({ writer }) => writer)
    expect(await left()).toHaveLength(3)
    expect(await left()).toEqual(expect.arrayContaining(['recent', rows[0]?.writer]))
    await closing.close()
    expect(await left()).toHaveLength(2)
  })

  test('is written again by a writer that wrote nothing for days', async () => {
    const url = await freshSchema()
    const proxy = await TcpProxy.open(POSTGRES_URL, 5432)
    const [silent, sql] = [await open(proxy.urlOf(url)), await sqlOn(url)]
    await silent.commit(claimOf('first'))
    await sql.query(`UPDATE writers SET at = now() - interval '2 days'`)
    await open(url)
    expect((await sql.query('SELECT 1 FROM writers')).rows).toEqual([])
    proxy.cutAt('again', 'answer')
    await silent.commit(claimOf('again'))
    expect(proxy.cuts).toBe(1)
    expect((await sql.query('SELECT batch FROM writers')).rows).toEqual([{ batch: '2' }])
  })
})

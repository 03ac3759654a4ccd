// Examines a PostgreSQL store: whether it answers, the settings that durability and throughput depend on, its clock.

import { openSession, rowsOf } from '../adapters/sql/postgres/client.ts'
import { SCHEMA_VERSION } from '../adapters/sql/postgres/migrations.ts'
import { ENGINE_SESSIONS, isPooled, isUnfit } from '../adapters/sql/postgres/pooler.ts'
import { schemaVersionOf } from '../adapters/sql/postgres/snapshot.ts'
import { withoutPassword } from '../domain/text/service-url.ts'
import { error, type Finding, ok, reasonOf, warning } from './finding.ts'
import { judged, type StoredKeys } from './sqlite.ts'

type Session = Awaited<ReturnType<typeof openSession>>

const VERSION_MIN = 14
const SKEW_MS_WARN = 1000

export interface Examined {
  findings: Finding[]
  keys?: StoredKeys
}

export async function examinePostgres(url: string): Promise<Examined> {
  const name = withoutPassword(url)
  let session: Session
  try {
    session = await openSession(url, () => {})
  } catch (cause) {
    if (isUnfit(cause)) return { findings: [error('postgres.pooler', `${name}: ${reasonOf(cause)}`)] }
    return { findings: [error('store', `${name} cannot be reached: ${reasonOf(cause)}`)] }
  }
  try {
    const version = await schemaVersionOf(session)
    const schema =
      version === 0
        ? ok('store', `${name} has no tables of an engine yet: the engine makes them`)
        : judged(name, version, SCHEMA_VERSION)
    const findings = [
      schema,
      pooler(session),
      ...(await settings(session)),
      await sessions(session),
      await skew(session),
    ]
    return version === 0 ? { findings } : { findings, keys: await keys(session) }
  } catch (cause) {
    return { findings: [error('store', `${name} does not answer as it should: ${reasonOf(cause)}`)] }
  } finally {
    await session.end().catch(() => {})
  }
}

function pooler(session: Session): Finding {
  return isPooled(session)
    ? ok('postgres.pooler', 'there is a pooler, and it gives every session its own connection')
    : ok('postgres.pooler', 'there is no pooler')
}

async function settings(session: Session): Promise<Finding[]> {
  const [row] = await rowsOf(
    session,
    `SELECT current_setting('server_version_num')::bigint, current_setting('synchronous_commit'), current_setting('fsync'),
      current_setting('full_page_writes'), current_setting('server_encoding'), pg_is_in_recovery()::text,
      current_setting('default_transaction_read_only'), current_setting('autovacuum')`,
  )
  const [number, commit, fsync, pages, encoding, standby, readOnly, autovacuum] = row as [number, ...string[]]
  const major = Math.floor(number / 10_000)
  return [
    major < VERSION_MIN
      ? error('postgres.version', `PostgreSQL ${major}: ${VERSION_MIN} or newer is needed`)
      : ok('postgres.version', `PostgreSQL ${major}`),
    commit === 'off'
      ? error('postgres.synchronous_commit', 'synchronous_commit is off: acknowledged work can be lost')
      : ok('postgres.synchronous_commit', `synchronous_commit is ${commit}`),
    ...(fsync === 'off' ? [error('postgres.fsync', 'fsync is off: a power cut can destroy the database')] : []),
    ...(pages === 'off'
      ? [warning('postgres.full_page_writes', 'full_page_writes is off: safe only on a file system without torn pages')]
      : []),
    autovacuum === 'off'
      ? warning(
          'postgres.autovacuum',
          'autovacuum is off: lists of many runs take a hundred times as long, and the tables only grow',
        )
      : ok('postgres.autovacuum', `autovacuum is ${autovacuum}`),
    ...(encoding === 'UTF8' ? [] : [error('postgres.encoding', `the database is encoded in ${encoding}, not UTF8`)]),
    ...(standby === 'true' || readOnly === 'on'
      ? [error('postgres.writable', 'the server takes no writes: it is a standby, or read only')]
      : []),
  ]
}

async function sessions(session: Session): Promise<Finding> {
  const [row] = await rowsOf(
    session,
    `SELECT current_setting('max_connections')::bigint, current_setting('superuser_reserved_connections')::bigint,
      (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')`,
  )
  const [max, reserved, used] = row as [number, number, number]
  const free = max - reserved - used
  const text = `${free} of ${max} connections are free, an engine takes up to ${ENGINE_SESSIONS}`
  if (free < 1) return error('postgres.connections', text)
  return free < ENGINE_SESSIONS ? warning('postgres.connections', text) : ok('postgres.connections', text)
}

async function skew(session: Session): Promise<Finding> {
  const before = Date.now()
  const [row] = await rowsOf(session, 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint')
  return judgedSkew('postgres.clock', 'PostgreSQL', (row?.[0] as number) - (before + Date.now()) / 2)
}

/** Engines that share a store use its clock; logs and people use the clock of the machine. */
export function judgedSkew(check: string, server: string, skewMs: number): Finding {
  const text = `the clock of ${server} is ${Math.abs(Math.round(skewMs))} ms ${skewMs < 0 ? 'behind' : 'ahead of'} this machine's`
  return Math.abs(skewMs) > SKEW_MS_WARN ? warning(check, text) : ok(check, text)
}

async function keys(session: Session): Promise<StoredKeys> {
  const [row] = await rowsOf(session, 'SELECT count(*) - count(revoked_at), count(*) FROM api_keys')
  const [live, made] = row as [number, number]
  return { live, made }
}

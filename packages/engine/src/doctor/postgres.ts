// Examines a PostgreSQL store: whether it answers, the settings that durability and throughput depend on, its clock.

import type { Client } from 'pg'
import { openClient, rowsOf } from '../adapters/sql/postgres/client.ts'
import { SCHEMA_VERSION } from '../adapters/sql/postgres/migrations.ts'
import { ENGINE_CONNECTIONS, isPooled, isUnfit } from '../adapters/sql/postgres/pooler.ts'
import { schemaVersionOf } from '../adapters/sql/postgres/snapshot.ts'
import { withoutPassword } from '../domain/text/service-url.ts'
import { error, type Finding, judgedSkew, ok, reasonOf, warning } from './finding.ts'
import { judged, type StoredKeys } from './sqlite.ts'

const VERSION_MIN = 14

export interface Examined {
  findings: Finding[]
  keys?: StoredKeys
}

export async function examinePostgres(url: string): Promise<Examined> {
  const name = withoutPassword(url)
  let client: Client
  try {
    client = await openClient(url, () => {})
  } catch (cause) {
    if (isUnfit(cause)) return { findings: [error('postgres.pooler', `${name}: ${reasonOf(cause)}`)] }
    return { findings: [error('store', `${name} cannot be reached: ${reasonOf(cause)}`)] }
  }
  try {
    const version = await schemaVersionOf(client)
    const schema =
      version === 0
        ? ok('store', `${name} has no engine tables yet: the engine creates them when it starts`)
        : judged(name, version, SCHEMA_VERSION)
    const findings = [
      schema,
      pooler(client),
      ...(await settings(client)),
      await connections(client),
      await skew(client),
    ]
    return version === 0 ? { findings } : { findings, keys: await keys(client) }
  } catch (cause) {
    return { findings: [error('store', `${name} gave an unexpected answer: ${reasonOf(cause)}`)] }
  } finally {
    await client.end().catch(() => {})
  }
}

function pooler(client: Client): Finding {
  return isPooled(client)
    ? ok('postgres.pooler', 'there is a pooler, and it gives every session its own connection')
    : ok('postgres.pooler', 'there is no pooler')
}

async function settings(client: Client): Promise<Finding[]> {
  const [row] = await rowsOf(
    client,
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

async function connections(client: Client): Promise<Finding> {
  const [row] = await rowsOf(
    client,
    `SELECT current_setting('max_connections')::bigint, current_setting('superuser_reserved_connections')::bigint,
      (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')`,
  )
  const [max, reserved, used] = row as [number, number, number]
  const free = max - reserved - used
  const text = `${free} of ${max} connections are free, an engine takes up to ${ENGINE_CONNECTIONS}`
  if (free < 1) return error('postgres.connections', text)
  return free < ENGINE_CONNECTIONS ? warning('postgres.connections', text) : ok('postgres.connections', text)
}

async function skew(client: Client): Promise<Finding> {
  const before = Date.now()
  const [row] = await rowsOf(client, 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint')
  return judgedSkew('postgres.clock', 'PostgreSQL', (row?.[0] as number) - (before + Date.now()) / 2)
}

async function keys(client: Client): Promise<StoredKeys> {
  const [row] = await rowsOf(client, 'SELECT count(*) - count(revoked_at), count(*) FROM api_keys')
  const [live, made] = row as [number, number]
  return { live, made }
}

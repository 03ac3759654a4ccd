// Debian's PgBouncer in front of the tests' PostgreSQL, on its own port, for tests of poolers. A run that must skip nothing
// needs it; otherwise its tests are skipped, with one line.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { isStrict } from '../../servers.ts'
import { onCleanup } from '../cleanup.ts'
import { until } from '../until.ts'
import { freePort } from './free-port.ts'
import { POSTGRES_URL } from './postgres.ts'

/** The path on Debian; `PGBOUNCER` names another. */
const PROGRAM = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer'
/** PgBouncer does not run as root: the user `nobody`. */
const NOBODY = 65534

/** Whether tests of PgBouncer can run. Throws if none may be skipped. */
export function havePgbouncer(): boolean {
  if (existsSync(PROGRAM)) return true
  if (isStrict)
    throw new Error(`${PROGRAM} must be there for all tests to run: apt-get install pgbouncer, or set PGBOUNCER`)
  console.warn(`${PROGRAM} is not there: the tests of poolers are LEFT OUT`)
  return false
}

export class Pgbouncer {
  readonly #port: number
  readonly #folder: string
  readonly #child: ChildProcess

  private constructor(parts: { port: number; folder: string; child: ChildProcess }) {
    this.#port = parts.port
    this.#folder = parts.folder
    this.#child = parts.child
  }

  /** Starts a PgBouncer with these settings; when this resolves, it accepts clients. */
  static async start(settings: Record<string, string | number> = {}): Promise<Pgbouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'perdure-pgbouncer-'))
    onCleanup(() => rmSync(folder, { recursive: true, force: true }))
    const port = await freePort()
    writeConfig(folder, { listen_port: port, ...settings })
    chmodSync(folder, 0o755)
    const isRoot = process.getuid?.() === 0
    if (isRoot) chownSync(folder, NOBODY, NOBODY)
    const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
    const child = spawn(PROGRAM, ['-q', join(folder, 'pgbouncer.ini')], { stdio: 'ignore', ...user })
    const ended = once(child, 'close')
    onCleanup(async () => {
      child.kill('SIGKILL')
      await ended
    })
    const pooler = new Pgbouncer({ port, folder, child })
    await until(() => pooler.#answers(), { what: 'PgBouncer' })
    return pooler
  }

  /** The address of a database or schema, through the pooler. */
  urlOf(url: string): string {
    const through = new URL(url)
    through.hostname = '127.0.0.1'
    through.port = String(this.#port)
    return through.href
  }

  /** Changes the settings while it runs, like `RELOAD`. */
  reload(settings: Record<string, string | number>): void {
    writeConfig(this.#folder, { listen_port: this.#port, ...settings })
    this.#child.kill('SIGHUP')
  }

  async #answers(): Promise<boolean> {
    const client = new Client({ connectionString: this.urlOf(POSTGRES_URL) })
    client.on('error', () => {})
    try {
      await client.connect()
      return true
    } finally {
      await client.end().catch(() => {})
    }
  }
}

function writeConfig(folder: string, settings: Record<string, string | number>): void {
  const { hostname, port, username, password } = new URL(POSTGRES_URL)
  const server = { host: hostname, port: port || '5432', user: username, password: decodeURIComponent(password) }
  const target = Object.entries(server).flatMap(([name, value]) => (value === '' ? [] : [`${name}=${value}`]))
  const given = { listen_addr: '127.0.0.1', auth_type: 'any', unix_socket_dir: '', ...settings }
  const lines = Object.entries(given).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]\n* = ${target.join(' ')}\n[pgbouncer]\n${lines.join('\n')}\n`,
  )
}

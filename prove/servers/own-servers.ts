// PostgreSQL and Redis servers only for the suites, started from the machine's binaries in a temporary directory, as an
// unprivileged user. Nothing else uses them, so suites may stop and flush them. Without the binaries, suites use the servers that
// the environment names.

import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/kit/servers/free-port.ts'
import { until, within } from '../../test/kit/until.ts'

const POSTGRES_DIRECTORIES = '/usr/lib/postgresql'
const STOP_MS_MAX = 10_000
const POSTGRES_SETTINGS = ['max_connections=200', 'listen_addresses=127.0.0.1', 'log_min_messages=fatal']

export interface OwnServers {
  /** Kills PostgreSQL without a shutdown, and restarts it: it recovers from its log. */
  restartPostgres(): Promise<void>
  stop(): Promise<void>
}

let current: OwnServers | undefined

/** Returns the servers that nothing else uses; undefined if suites use those of the environment. */
export function currentServers(): OwnServers | undefined {
  return current
}

/**
 * Starts the servers and names them in the environment, unless the environment already names some or the binaries are missing.
 */
export async function startOwnServers(): Promise<OwnServers | undefined> {
  if (process.env.PERDURE_TEST_POSTGRES !== undefined) return undefined
  const binaries = postgresBinaries()
  const redis = whichOf('redis-server')
  const user = unprivileged()
  if (binaries === undefined || redis === undefined || user === undefined) {
    console.log('no binaries of PostgreSQL and Redis: suites use the servers that the environment names')
    return undefined
  }
  const directory = mkdtempSync(join(tmpdir(), 'perdure-servers-'))
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid as number)
  const [postgresPort, redisPort] = [await freePort(), await freePort()]
  const data = join(directory, 'postgres')
  const quiet = { ...user, cwd: directory, stdio: 'ignore' } as const
  execFileSync(join(binaries, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'], quiet)
  const settings = [...POSTGRES_SETTINGS, `unix_socket_directories=${directory}`, `port=${postgresPort}`]
  const command = ['-D', data, ...settings.flatMap(setting => ['-c', setting])]
  const startPostgres = () =>
    startServer({ command: join(binaries, 'postgres'), args: command, port: postgresPort, quiet })
  let postgres = await startPostgres()
  const cache = await startServer({
    command: redis,
    args: ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--dir', directory],
    port: redisPort,
    quiet,
  })
  const database = ['-h', '127.0.0.1', '-p', String(postgresPort), '-U', 'postgres', 'test']
  // The port answers before the server accepts connections.
  await until(() => execFileSync(join(binaries, 'createdb'), database, quiet) === null)
  process.env.PERDURE_TEST_POSTGRES = `postgres://postgres@127.0.0.1:${postgresPort}/test`
  process.env.PERDURE_TEST_REDIS = `redis://127.0.0.1:${redisPort}`
  current = {
    async restartPostgres() {
      await end(postgres, 'SIGQUIT')
      postgres = await startPostgres()
    },
    async stop() {
      await Promise.all([end(postgres, 'SIGQUIT'), end(cache, 'SIGKILL')])
      rmSync(directory, { recursive: true, force: true })
    },
  }
  return current
}

interface ServerOptions {
  command: string
  args: readonly string[]
  port: number
  quiet: SpawnOptions
}

/** Resolves when the server's port answers. The server ends with this process. */
async function startServer({ command, args, port, quiet }: ServerOptions): Promise<ChildProcess> {
  const child = spawn(command, args, quiet)
  const orphaned = () => child.kill('SIGKILL')
  process.once('exit', orphaned)
  child.once('exit', () => process.removeListener('exit', orphaned))
  await until(() => answers(port), { what: command })
  return child
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  child.kill(signal)
  await within(ended, 'the end of the server', STOP_MS_MAX).catch(() => void child.kill('SIGKILL'))
}

/** Returns the newest version of PostgreSQL that Debian's packages have installed. */
function postgresBinaries(): string | undefined {
  if (!existsSync(POSTGRES_DIRECTORIES)) return undefined
  const versions = readdirSync(POSTGRES_DIRECTORIES).sort((a, b) => Number(b) - Number(a))
  const directories = versions.map(version => join(POSTGRES_DIRECTORIES, version, 'bin'))
  return directories.find(directory => existsSync(join(directory, 'initdb')))
}

function whichOf(name: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(':')
    .map(directory => join(directory, name))
    .find(path => existsSync(path))
}

/** Returns the user of the servers: PostgreSQL refuses to run as root. */
function unprivileged(): { uid?: number; gid?: number } | undefined {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = ['-u', '-g'].map(flag => Number(execFileSync('id', [flag, name], { encoding: 'utf8' })))
      return { uid: uid as number, gid: gid as number }
    } catch {
      // There is no such user.
    }
  }
  return undefined
}

function answers(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

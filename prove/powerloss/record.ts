// Records an engine process: every write, sync and answer, through two lives on one store under load. The first life ends with a
// shutdown (and therefore a checkpoint), the second with kill -9.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EngineProcess, flow, PlainRunner, RunnerRecord, run, sleep, tempStoreFile } from '../../test/kit/index.ts'
import { Ledger } from '../../test/kit/ledger.ts'
import { type Operation, operationsOf } from './operations.ts'
import { readTrace } from './trace.ts'

const CALLS =
  'pwrite64,pwritev,pwritev2,write,writev,sendto,sendmsg,fsync,fdatasync,sync_file_range,ftruncate,fallocate,openat,unlink,unlinkat,rename,renameat,renameat2'
const STRACE = ['strace', '-D', '-f', '-y', '-xx', '-s', '100000000', '--seccomp-bpf', '-e', `trace=${CALLS}`]
const EVENTS_EACH_LIFE = 25
const PARALLEL = 5
const DATA_CHARS = 500

export interface Recording {
  operations: readonly Operation[]
  /** The client's ledger: tokens by event id. */
  tokens: ReadonlyMap<string, string>
  /** It continues to listen, so that engines on rebuilt files find it. */
  runner: PlainRunner
  record: ReplayRecord
  /** The file names that the engine used. */
  fileName: string
}

/** A runner's record that is emptied for each rebuilt disk. */
class ReplayRecord extends RunnerRecord {
  forget(): void {
    this.executed.length = 0
    this.invokes.length = 0
  }
}

export function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-D', '-f', '--seccomp-bpf', '-o', '/dev/null', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** `env`: settings of the engine, for planted bugs. */
export async function record(env: Record<string, string> = {}): Promise<Recording> {
  const storeFile = tempStoreFile()
  mkdirSync(dirname(storeFile), { recursive: true })
  const folder = realpathSync(dirname(storeFile))
  const traceDirectory = dirname(tempStoreFile())
  const replayed = new ReplayRecord()
  const text = 'x'.repeat(DATA_CHARS)
  const steps = ['one', 'two', 'three'].map(name => run(name, ({ event }) => ({ ...(event.data as object), name })))
  const runner = new PlainRunner({
    record: replayed,
    workflows: { traced: flow([...steps.slice(0, 2), sleep('nap', 5), ...steps.slice(2)], () => 'done') },
  })
  await runner.listen()
  const ledger = new Ledger<{ token: string; eventId: string }>('client')
  let operations: Operation[] = []
  for (const life of [1, 2]) {
    const trace = join(traceDirectory, `life-${life}.strace`)
    const engine = new EngineProcess({ env, storeFile, under: [...STRACE, '-o', trace] })
    await engine.start()
    await runner.register(engine.api)
    const posted = Array.from({ length: EVENTS_EACH_LIFE }, (_, i) => `token-${life}-${i}`)
    await inLanes(PARALLEL, posted, async token => {
      const { eventId, runId } = await engine.api.send({ name: 'traced', app: runner.app, data: { token, text } })
      ledger.append({ token, eventId })
      await engine.api.succeeded(runId)
    })
    if (life === 1) await engine.sigterm()
    else await engine.kill9()
    operations = operationsOf(readTrace(readFileSync(trace, 'utf8')), { folder, earlier: operations })
  }
  const tokens = new Map(ledger.entries().map(({ token, eventId }) => [eventId, token]))
  return { operations, tokens, runner, record: replayed, fileName: 'engine.db' }
}

async function inLanes<T>(lanes: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const lane = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

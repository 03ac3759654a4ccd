// `disk`: the disk under the store is full, fails, or turns read-only in the middle of a load. The engine refuses with 503, never
// acknowledges anything that it does not have, and is complete again on a disk that works. `strace` injects faults into the
// engine's system calls; as root, a small tmpfs that fills up is used too.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onCleanup } from '../../test/kit/cleanup.ts'
import { violations } from '../../test/kit/engine/violations.ts'
import { EngineProcess, tempStoreFile, until } from '../../test/kit/index.ts'
import { openThreeSteps } from '../load/three-steps.ts'
import { halvesOf, lostOf, openRuns, TokenLoad } from '../load/token-load.ts'
import { hasStrace } from '../powerloss/record.ts'
import type { Finding, Order, Suite } from '../suite.ts'
import { NO_STRACE } from './powerloss.ts'

const ENDS_MS_MAX = 60_000
/** Refusals under a fault before the disk is repaired: enough for a 202 or a 500 among them to show. */
const REFUSALS_MIN = 20
const TMPFS = 'size=6m'

export const disk: Suite = {
  proves: 'a disk that is full, fails or turns read-only: refusals with 503, nothing acknowledged lost',
  unit: 'faults',
  counts: { quick: 6, full: 120 },
  deadlineMs: { base: 120_000, each: 30_000 },
  run: breakDisks,
}

/** A disk with a store, and its fault. */
interface Fault {
  name: string
  storeFile: string
  /** The command under which the engine runs. */
  under?: readonly string[]
  /** Starts the fault, if it does not start by itself. */
  begin?(): void
  end?(): void
}

/** Faults of system calls: which calls fail, and with which error. */
const INJECTED: Readonly<Record<string, { calls: string; error: string }>> = {
  'full disk': { calls: 'pwrite64', error: 'ENOSPC' },
  'failing write': { calls: 'pwrite64', error: 'EIO' },
  'failing sync': { calls: 'fdatasync,fsync', error: 'EIO' },
  'read-only disk': { calls: 'pwrite64,ftruncate', error: 'EROFS' },
}

async function breakDisks({ count, random }: Order): Promise<Finding> {
  const skipped: string[] = []
  const faults: ((at: number) => Fault)[] = []
  if (hasStrace()) faults.push(...Object.keys(INJECTED).map(name => (at: number) => injected(name, at)))
  else skipped.push(NO_STRACE)
  if (process.getuid?.() === 0) faults.push(fullTmpfs)
  else skipped.push('a small tmpfs needs root')
  const counts: Record<string, number> = { 'events acknowledged': 0, refused: 0 }
  const problems: string[] = []
  for (let i = 0; i < count && faults.length > 0; i++) {
    const open = faults[i % faults.length] as (at: number) => Fault
    const fault = open(random.between(30, 300))
    counts[fault.name] = (counts[fault.name] ?? 0) + 1
    const met = await meet(fault)
    counts['events acknowledged'] = (counts['events acknowledged'] as number) + met.acknowledged
    counts.refused = (counts.refused as number) + met.refused
    problems.push(...met.problems.map(problem => `${fault.name}: ${problem}`))
  }
  return faults.length === 0 ? { counts: {}, problems, skipped } : { counts, problems, skipped }
}

async function meet(fault: Fault): Promise<{ problems: string[]; acknowledged: number; refused: number }> {
  const { storeFile, under } = fault
  const { name, app, runner, record } = await openThreeSteps('disk')
  const env = { ENGINE_LOG_LEVEL: 'silent' }
  const engine = new EngineProcess({ env, storeFile, ...(under ? { under } : {}) })
  await engine.start()
  await runner.register(engine.api)
  let isGone = false
  void engine.exit.then(() => {
    isGone = true
  })
  const load = new TokenLoad({ api: engine.api, app, name, parallel: 6, data: { text: 'x'.repeat(2000) } })
  await until(() => load.acknowledged.length >= 5, { what: 'acknowledged events' })
  fault.begin?.()
  const refusedSoFar = () => [...load.refused.values()].reduce((sum, n) => sum + n, 0)
  // An engine that ends by itself and is restarted by its supervisor is as good as one that refuses.
  await until(() => isGone || refusedSoFar() >= REFUSALS_MIN, { what: 'the refusals of an engine without a disk' })
  const problems: string[] = []
  if (!isGone && (await engine.api.get('/readyz')).status !== 503) problems.push('/readyz is not 503')
  await load.stop()
  await engine.kill9()
  fault.end?.()
  for (const [status, times] of load.refused) if (status !== 503) problems.push(`${times} answers were ${status}`)

  const repaired = await new EngineProcess({ env, storeFile }).start()
  const { api } = repaired
  problems.push(...(await lostOf(api, load.acknowledged.entries())), ...(await halvesOf(api, name)))
  await api.succeeded((await api.send({ name, app, data: { token: 'afterwards' } })).runId)
  problems.push(...(await openRuns(api, app, ENDS_MS_MAX)), ...record.problems)
  await repaired.sigterm()
  problems.push(...(await violations(`sqlite:${storeFile}`)).map(violation => JSON.stringify(violation)))
  await runner.close()
  return { problems, acknowledged: load.acknowledged.length, refused: refusedSoFar() }
}

/** Makes every call of the writer on the store's files fail, from the call with that number on. */
function injected(name: string, at: number): Fault {
  const { calls, error } = INJECTED[name] as (typeof INJECTED)[string]
  const storeFile = tempStoreFile()
  mkdirSync(dirname(storeFile), { recursive: true })
  const paths = ['', '-wal'].flatMap(suffix => ['-P', `${storeFile}${suffix}`])
  // After the calls of the start, so that the fault hits the load.
  const when = calls.includes('sync') ? Math.ceil(at / 10) + 40 : at + 500
  const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}:when=${when}+`]
  return { name, storeFile, under: ['strace', '-D', '-f', '-o', '/dev/null', ...paths, ...inject] }
}

function fullTmpfs(): Fault {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-tmpfs-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', TMPFS, 'tmpfs', folder])
  onCleanup(() => {
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  })
  const ballast = join(folder, 'ballast')
  return {
    name: 'full tmpfs',
    storeFile: join(folder, 'engine.db'),
    begin: () => {
      try {
        writeFileSync(ballast, Buffer.alloc(16 << 20))
      } catch {
        // The ballast fills the remaining space.
      }
    },
    end: () => rmSync(ballast),
  }
}

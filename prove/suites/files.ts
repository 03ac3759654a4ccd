// `files`: the files of a running engine are removed, renamed, replaced or overwritten under load, and second engines are started
// on its store in every way that gets past the lock file. The engine notices and accepts nothing more, everything that it
// acknowledged is saved from its open files, and no second engine starts.

import { copyFileSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { backupStore } from '../../packages/engine/src/compose/maintenance.ts'
import { violations } from '../../test/kit/engine/violations.ts'
import { EngineProcess, serveToTheEnd, tempStoreFile, until } from '../../test/kit/index.ts'
import { openThreeSteps } from '../load/three-steps.ts'
import { halvesOf, lostOf, openRuns, TokenLoad } from '../load/token-load.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const ENDS_MS_MAX = 60_000
/** An engine must notice within this time, with a margin for a busy machine. */
const NOTICE_MS_MAX = 3000
const EXIT_FAILED = 2

export const files: Suite = {
  proves:
    'files removed, renamed, replaced, written over; second engines: noticed or refused, nothing acknowledged lost',
  unit: 'faults',
  counts: { quick: 6, full: 110 },
  deadlineMs: { base: 60_000, each: 20_000 },
  run: loseFiles,
}

interface Fault {
  name: string
  begin(file: string): void
  /** Where everything acknowledged is afterwards; absent if contents were destroyed, and only noticing counts. */
  saved?: 'open files' | 'database'
}

/** The first losses, with the second engines, are those of `--quick`. */
const LOSSES: readonly Fault[] = [
  { name: 'folder removed', begin: file => rmSync(dirname(file), { recursive: true }), saved: 'open files' },
  { name: 'older copy in its place', begin: replace, saved: 'open files' },
  { name: 'log removed', begin: file => rmSync(`${file}-wal`), saved: 'database' },
  { name: 'written over', begin: file => writeFileSync(file, readFileSync(file).fill(0, 0, 4096)) },
]
const FURTHER_LOSSES: readonly Fault[] = [
  { name: 'database removed', begin: file => rmSync(file), saved: 'open files' },
  { name: 'database renamed', begin: file => renameSync(file, `${file}.old`), saved: 'open files' },
  { name: 'folder renamed', begin: file => renameSync(dirname(file), `${dirname(file)}-old`), saved: 'open files' },
  { name: 'index removed', begin: file => rmSync(`${file}-shm`), saved: 'database' },
]

/** Ways to start a second engine: the name by which it opens the store, and the command under which it runs. */
const SECONDS: readonly { name: string; open(file: string): string; under?: readonly string[] }[] = [
  { name: 'lock file removed', open: withoutLock },
  { name: 'hard link', open: linked },
]
const APART = ['unshare', '--pid', '--fork', '--mount-proc', '--uts', '--net']
const SECOND_APART = { name: 'other namespaces', open: withoutLock, under: APART }

async function loseFiles({ count }: Order): Promise<Finding> {
  const isRoot = process.getuid?.() === 0
  const seconds = isRoot ? [...SECONDS, SECOND_APART] : SECONDS
  const losing = (faults: readonly Fault[]) => faults.map(fault => () => lose(fault))
  const meets = [...losing(LOSSES), ...seconds.map(second => () => startSecond(second)), ...losing(FURTHER_LOSSES)]
  const problems: string[] = []
  const totals = { losses: 0, 'events acknowledged': 0, 'slowest notice in ms': 0, 'second engines refused': 0 }
  for (let i = 0; i < count; i++) {
    const met = await (meets[i % meets.length] as (typeof meets)[number])()
    problems.push(...met.problems)
    totals['events acknowledged'] += met.acknowledged
    if (met.noticedMs === undefined) totals['second engines refused']++
    else totals.losses++
    totals['slowest notice in ms'] = Math.max(totals['slowest notice in ms'], Math.round(met.noticedMs ?? 0))
  }
  const skipped = isRoot ? [] : ['a second engine in other namespaces needs root']
  return { counts: totals, problems, skipped }
}

interface Met {
  problems: string[]
  acknowledged: number
  noticedMs?: number
}

async function lose({ name: fault, begin, saved }: Fault): Promise<Met> {
  const { engine, load, name, app, runner, record } = await underLoad()
  begin(engine.storeFile)
  const begunAt = performance.now()
  const isReady = async () => (await engine.api.get('/readyz')).status !== 503
  await until(async () => !(await isReady()), { what: `the notice of: ${fault}` })
  const noticedMs = performance.now() - begunAt
  const problems = noticedMs > NOTICE_MS_MAX ? [`noticed after ${Math.round(noticedMs)} ms only`] : []
  const acknowledgedSoFar = load.acknowledged.length
  await until(() => load.refused.size > 0, { what: 'refusals' })
  await load.stop()
  const { length } = load.acknowledged
  // An event whose answer was under way during the probe's answer may still be among them.
  if (length > acknowledgedSoFar + 6)
    problems.push(`${length - acknowledgedSoFar} events acknowledged after the notice`)
  for (const [status, times] of load.refused) if (status !== 503) problems.push(`${times} answers were ${status}`)
  const copy = tempStoreFile()
  if (saved === 'open files') await backupStore(`sqlite:${engine.storeFile}`, copy, { pid: engine.pid })
  const { code } = await engine.sigterm()
  if (code !== EXIT_FAILED) problems.push(`the engine ended with exit code ${code}`)
  if (saved) {
    const storeFile = saved === 'database' ? engine.storeFile : copy
    const again = await new EngineProcess({ env: QUIET, storeFile }).start()
    await runner.register(again.api)
    problems.push(...(await lostOf(again.api, load.acknowledged.entries())), ...(await halvesOf(again.api, name)))
    problems.push(...(await openRuns(again.api, app, ENDS_MS_MAX)), ...record.problems)
    await again.sigterm()
    problems.push(...(await violations(`sqlite:${storeFile}`)).map(violation => JSON.stringify(violation)))
  }
  await runner.close()
  return { problems: problems.map(problem => `${fault}: ${problem}`), acknowledged: length, noticedMs }
}

async function startSecond({ name: way, open, under }: (typeof SECONDS)[number]): Promise<Met> {
  const { engine, load, app, runner, record } = await underLoad()
  const storeFile = open(engine.storeFile)
  const { code, stderr } = await serveToTheEnd({ storeFile, ...(under ? { under } : {}) })
  const problems: string[] = []
  if (code !== EXIT_FAILED || !/another engine is running|names \(hard links\)/.test(stderr))
    problems.push(`the second engine was not refused: ${code} ${stderr}`)
  const before = load.acknowledged.length
  await until(() => load.acknowledged.length > before + 5, { what: 'further events' })
  await load.stop()
  problems.push(...(await lostOf(engine.api, load.acknowledged.entries())))
  // The restart does not wait, although the lock file is now a different one.
  if (storeFile === engine.storeFile) await engine.restart()
  problems.push(...(await openRuns(engine.api, app, ENDS_MS_MAX)), ...record.problems)
  await engine.kill9()
  await runner.close()
  return { problems: problems.map(problem => `${way}: ${problem}`), acknowledged: load.acknowledged.length }
}

const QUIET = { ENGINE_LOG_LEVEL: 'silent' }

async function underLoad() {
  const { name, app, runner, record } = await openThreeSteps('files')
  // A folder inside another folder, so that a fault may rename it.
  const storeFile = join(dirname(tempStoreFile()), 'data', 'engine.db')
  mkdirSync(dirname(storeFile), { mode: 0o700 })
  const engine = await new EngineProcess({ env: QUIET, storeFile }).start()
  await runner.register(engine.api)
  const load = new TokenLoad({ api: engine.api, app, name, parallel: 6, data: { text: 'x'.repeat(2000) } })
  await until(() => load.acknowledged.length >= 100, { what: 'acknowledged events' })
  return { engine, load, name, app, runner, record }
}

function replace(file: string): void {
  copyFileSync(file, `${file}.older`)
  renameSync(`${file}.older`, file)
}

function withoutLock(file: string): string {
  rmSync(`${file}.lock`)
  return file
}

function linked(file: string): string {
  const other = join(dirname(file), 'other.db')
  linkSync(file, other)
  return other
}

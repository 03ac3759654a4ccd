// `teeth`: checks the suites. Each planted bug (in the engine's commits, SQLite, the disk or the fence) must make its suite fail:
// a check that no bug can trip proves nothing.

import { closeOpened } from '../../test/kit/cleanup.ts'
import { seeded } from '../../test/kit/seeded.ts'
import { PLANTED_BUGS, type PlantedBug } from '../../test/sim/core/planted.ts'
import { PLANTED_IN_REPORTS } from '../../test/sim/core/planted-reports.ts'
import { simulate } from '../../test/sim/core/simulate.ts'
import { hasStrace, record } from '../powerloss/record.ts'
import { sabotage } from '../sabotage/sabotage.ts'
import type { Finding, Order, Suite } from '../suite.ts'
import { freezeEngines } from './fencing.ts'
import { judgeCuts, NO_STRACE } from './powerloss.ts'

const NOTHING_OFF: ReadonlySet<string> = new Set()
const SEEDS_MAX = 60
const CUTS = 12
const BUGS_MIN = 25
const NOTICED_CHARS_MAX = 100

export const teeth: Suite = {
  proves: 'every planted bug makes a suite fail, each by its name',
  unit: 'rounds',
  counts: { quick: 1, full: 1 },
  deadlineMs: { base: 900_000, each: 600_000 },
  run: plantBugs,
}

/** A bug, and the suite that must notice it. Returns the first difference that was noticed, or undefined if nothing was. */
interface Bug {
  name: string
  suite: string
  notice(seed: number): Promise<string | undefined>
  /** Why the bug cannot be planted on this machine. */
  cannot?: string
}

async function plantBugs({ seed, count }: Order): Promise<Finding> {
  const problems: string[] = []
  const skipped: string[] = []
  let caught = 0
  for (let round = 0; round < count; round++) {
    for (const { name, suite, notice, cannot } of bugs()) {
      if (cannot !== undefined) {
        skipped.push(`${name} (${cannot})`)
        continue
      }
      const noticed = await notice(seed + round)
      if (noticed === undefined) problems.push(`${suite} did not notice: ${name}`)
      else {
        caught++
        console.log(`  ${suite} fails: ${name}: ${noticed.slice(0, NOTICED_CHARS_MAX)}`)
      }
    }
  }
  if (caught < BUGS_MIN * count && skipped.length === 0) problems.push(`only ${caught} bugs were caught`)
  return { counts: { 'planted bugs': caught + problems.length, caught }, problems, skipped }
}

function bugs(): Bug[] {
  const strace = hasStrace() ? {} : { cannot: NO_STRACE }
  return [
    ...[...PLANTED_BUGS, ...PLANTED_IN_REPORTS].map(bug => ({
      name: bug.name,
      suite: 'sim',
      notice: () => inSimulation(bug),
    })),
    { name: 'the disk answers syncs and carries out none', suite: 'powerloss', ...strace, notice: lyingDisk },
    { name: 'SQLite commits without a sync', suite: 'powerloss', ...strace, notice: missingSync },
    { name: 'the fence of a run is not checked', suite: 'fencing', notice: uncheckedFence },
  ]
}

async function inSimulation(bug: PlantedBug): Promise<string | undefined> {
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const { failure } = await simulate({ ...bug, seed, off: NOTHING_OFF })
    if (failure) return `seed ${seed}, ${failure.violation.message}`
  }
  return undefined
}

async function lyingDisk(seed: number): Promise<string | undefined> {
  return firstOf(judgeCuts(await record(), { count: CUTS, random: seeded(seed), lies: true }))
}

async function missingSync(seed: number): Promise<string | undefined> {
  const env = sabotage({ PERDURE_PROVE_SYNC: 'off' })
  return firstOf(judgeCuts(await record(env), { count: CUTS, random: seeded(seed) }))
}

async function uncheckedFence(seed: number): Promise<string | undefined> {
  return firstOf(freezeEngines({ count: 20, random: seeded(seed), isFenceChecked: false }))
}

/** Returns the first difference that a suite reports, after closing everything that the suite has opened. */
async function firstOf(finding: Promise<Finding>): Promise<string | undefined> {
  const { problems } = await finding
  // An engine on a damaged store logs errors, which the kit reports when it closes.
  await closeOpened().catch(() => {})
  return problems[0]
}

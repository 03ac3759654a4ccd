// Runs one seed from beginning to end and checks it. If it fails, looks for a smaller simulation that fails in the same way.

import { checkCallbacks } from '../checks/callback-checks.ts'
import { checkCleanups } from '../checks/cleanup-checks.ts'
import { checkDeliveries } from '../checks/delivery-checks.ts'
import { checkEffects } from '../checks/effect-checks.ts'
import { checkEvents } from '../checks/event-checks.ts'
import { checkFailures } from '../checks/failure-checks.ts'
import { checkInboxes } from '../checks/inbox-checks.ts'
import { checkBudgets } from '../checks/limits/budget-checks.ts'
import { checkLogs } from '../checks/log-checks.ts'
import { checkSignals } from '../checks/signal-checks.ts'
import { takeSnapshot } from '../checks/snapshot.ts'
import { checkStarts } from '../checks/start-checks.ts'
import { checkStreams } from '../checks/stream-checks.ts'
import { checkNoHoles } from '../checks/timeline-checks.ts'
import { NAMESPACES } from '../workload/names.ts'
import { EXTRAS } from './extras.ts'
import { FAULT_KINDS } from './faults.ts'
import { ACTION_KINDS, Script } from './script.ts'
import type { Violation } from './violation.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'

export interface Verdict {
  /** A digest of everything that happened. A seed always gives the same digest. */
  digest: string
  runs: number
  passes: number
  virtualMs: number
  failure?: { violation: Violation; excerpt: string }
}

export async function simulate(options: WorldOptions): Promise<Verdict> {
  const restore = options.install?.()
  const world = await createWorld(options)
  const { clock, trace, witness, runnerRecord, startedAt } = world
  let failure: Verdict['failure']
  try {
    await new Script(world, options.seed, options.off).play()
    await judge(world)
  } catch (error) {
    witness.fail(error)
    const violation = witness.failure as Violation
    failure = { violation, excerpt: trace.excerpt(violation.subjects) }
  }
  world.host.crash('dead')
  await world.inner.close()
  restore?.()
  return {
    digest: trace.digest(),
    runs: witness.records.size,
    passes: runnerRecord.passCount,
    virtualMs: clock.now() - startedAt,
    ...(failure ? { failure } : {}),
  }
}

/** Runs the checks that need the whole history. */
async function judge(world: World): Promise<void> {
  const { witness, inner, rng, specs, runnerRecord, journal, posts, runners } = world
  witness.touchAll()
  await witness.look()
  for (const record of witness.records.values()) await checkNoHoles(record, inner.in(record.namespace))
  const rows = await takeSnapshot({
    store: inner,
    namespaces: NAMESPACES,
    records: witness.records,
    rng: rng.fork('snapshot'),
  })
  const runnerIds = new Set([...runners.values()].map(({ deps }) => `${deps.namespace} ${deps.app} ${deps.runnerId}`))
  const all = { ...rows, records: witness.records, specs, runnerRecord, journal, posts, runnerIds }
  checkEvents(all)
  checkEffects(all)
  checkDeliveries(all)
  checkFailures(all)
  checkLogs(all)
  checkCallbacks(all)
  checkSignals(all)
  checkStarts(all)
  checkInboxes(all)
  checkCleanups(all)
  await checkBudgets(all, inner)
  await checkStreams(all, witness.streams, inner)
}

/** Switches off one kind of fault or action after another while the same check still fails. */
export async function shrink(
  options: WorldOptions,
  failed: Verdict,
): Promise<{ verdict: Verdict; off: ReadonlySet<string> }> {
  let off = new Set(options.off)
  let verdict = failed
  for (const kind of [...FAULT_KINDS, ...ACTION_KINDS, ...EXTRAS, 'namespaces']) {
    const fewer = new Set([...off, kind])
    const smaller = await simulate({ ...options, off: fewer })
    if (smaller.failure?.violation.invariant !== failed.failure?.violation.invariant) continue
    off = fewer
    verdict = smaller
  }
  return { verdict, off }
}

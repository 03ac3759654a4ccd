// Assembles one seed's simulation: the real engine on the real store in memory, with simulated runners, a simulated network to
// them, and checkers. `script.ts` drives it.

import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import type { Bounds } from '../../../packages/engine/src/compose/engine.ts'
import type { Unit } from '../../../packages/engine/src/domain/model/change.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import { Witness } from '../checks/witness.ts'
import { FaultyStore } from '../ports/faulty-store.ts'
import { Wall } from '../ports/life.ts'
import { SimAppends } from '../ports/sim-appends.ts'
import { SimReports } from '../ports/sim-reports.ts'
import { type Post, SimSender } from '../ports/sim-sender.ts'
import { SimTransport } from '../ports/sim-transport.ts'
import { CallbackPosts } from '../workload/callback-posts.ts'
import { Client } from '../workload/client.ts'
import { generateWorkflows } from '../workload/generate.ts'
import { Journal } from '../workload/journal.ts'
import { APPS, NAMESPACES } from '../workload/names.ts'
import type { WorkflowSpec } from '../workload/program.ts'
import { type PlantedInRunner, SimRunner } from '../workload/runner.ts'
import { type Pass, RunnerRecord } from '../workload/runner-record.ts'
import { StreamReaders } from '../workload/stream-readers.ts'
import { EngineHost } from './engine-host.ts'
import { type Extra, extrasOf, featuresOf } from './extras.ts'
import { type FaultKind, Faults } from './faults.ts'
import { Rng } from './random.ts'
import { SimClock } from './sim-clock.ts'
import { Trace } from './trace.ts'
import { Violation } from './violation.ts'

export interface WorldOptions {
  seed: number
  /** Faults and kinds of actions that are switched off. */
  off: ReadonlySet<string>
  /** A planted bug: returns the unit to commit in place of the given one. */
  tamper?: ((unit: Unit) => Unit) | undefined
  /** A planted bug: the engines' durations use the wall clock. */
  durationsByWall?: boolean | undefined
  /** A planted bug: a wait looks back to the wall-clock time of its run's creation. */
  looksBackByWall?: boolean | undefined
  /** A planted bug of the runners. */
  runner?: PlantedInRunner | undefined
  /** A planted bug: replaces a part of the engine, and returns a function that restores it. */
  install?: (() => () => void) | undefined
  /** Faults that strike in every seed. */
  always?: readonly FaultKind[]
  /** Extras that every seed has. */
  extras?: readonly Extra[]
}

export interface World {
  rng: Rng
  clock: SimClock
  trace: Trace
  faults: Faults
  inner: Store
  specs: readonly WorkflowSpec[]
  runners: ReadonlyMap<string, SimRunner>
  runnerRecord: RunnerRecord
  journal: Journal
  posts: Post[]
  underWay: ReadonlySet<Pass>
  witness: Witness
  host: EngineHost
  wall: Wall
  bounds: Bounds
  client: Client
  callbackPosts: CallbackPosts
  startedAt: number
  extras: ReadonlySet<Extra>
}

export async function createWorld(options: WorldOptions): Promise<World> {
  const { seed, off, tamper, always, durationsByWall, looksBackByWall, runner } = options
  const rng = new Rng(seed)
  const clock = new SimClock()
  const startedAt = clock.now()
  const trace = new Trace(clock)
  const faults = new Faults(seed, off, always)
  const extras = extrasOf(seed, off, options.extras)
  const inner = await openSqliteStore({ file: ':memory:' })
  const runnerRecord = new RunnerRecord()
  const journal = new Journal()
  const posts: Post[] = []
  const underWay = new Set<Pass>()
  const wall = new Wall()
  const specs = generateWorkflows(rng.fork('workflows'), extras)
  const witness = new Witness({ inner, clock, wall, rng: rng.fork('witness'), runnerRecord, startedAt, specs, journal })
  clock.settled.onSettled = () => witness.look()
  const callbackPosts = new CallbackPosts({
    clock,
    rng: rng.fork('callbacks'),
    client: () => client,
    isOff: off.has('callbacks'),
  })
  const runners = createRunners({
    specs,
    faults,
    runnerRecord,
    callbackPosts,
    startedAt,
    planted: runner,
    rng: rng.fork('runners'),
  })
  const wire = rng.fork('wire')
  const shared = { clock, faults, trace, rng: wire }
  const reports = new SimReports({
    clock,
    faults,
    trace,
    rng: rng.fork('reports'),
    store: inner,
    current: () => host.current,
    fail: violation => witness.fail(violation),
  })
  // Either few enough to be used up, or as many as in production.
  const bounds = rng.fork('bounds').pick([
    { passesMax: 2, deliveriesMax: 1, timersMax: 1 },
    { passesMax: 6, deliveriesMax: 3, timersMax: 2 },
    { passesMax: 200, deliveriesMax: 200, timersMax: 200 },
  ])
  const appendRng = rng.fork('appends')
  const host: EngineHost = new EngineHost({
    clock,
    bounds,
    wall,
    durationsByWall,
    rng: rng.fork('engines'),
    trace,
    store: life => new FaultyStore({ ...shared, inner, tap: witness, life, tamper, looksBackByWall }),
    transport: life => {
      const appends = extras.has('streams') ? new SimAppends({ ...shared, rng: appendRng, life }) : undefined
      return new SimTransport({ ...shared, runnerRecord, tap: witness, life, runners, underWay, reports, appends })
    },
    sender: life => new SimSender({ ...shared, life, posts }),
    onLoggedError: message => witness.fail(new Violation('the engine logs no error of its own', message)),
  })
  const readers = new StreamReaders({ clock, host, fail: violation => witness.fail(violation) })
  witness.onStream = stream => readers.follow(stream)
  const client: Client = new Client({ host, clock, trace, journal, witness, features: featuresOf(extras) })
  return {
    rng,
    clock,
    trace,
    faults,
    inner,
    specs,
    runners,
    runnerRecord,
    journal,
    posts,
    underWay,
    witness,
    host,
    wall,
    bounds,
    client,
    callbackPosts,
    startedAt,
    extras,
  }
}

/** One or two runners of every app in every namespace, by URL. */
function createRunners(options: {
  specs: readonly WorkflowSpec[]
  faults: Faults
  runnerRecord: RunnerRecord
  callbackPosts: CallbackPosts
  startedAt: number
  planted: PlantedInRunner | undefined
  rng: Rng
}): Map<string, SimRunner> {
  const { specs, rng, ...deps } = options
  const runners = new Map<string, SimRunner>()
  for (const namespace of NAMESPACES) {
    for (const app of APPS) {
      const workflows = specs.filter(spec => spec.app === app)
      const count = workflows.length === 0 ? 0 : rng.int(1, 2)
      for (let i = 0; i < count; i++) {
        const url = `http://${namespace}-${app}-${i}/`
        runners.set(url, new SimRunner({ ...deps, namespace, app, runnerId: `${app}-${i}`, url, workflows }))
      }
    }
  }
  return runners
}

// Runs and timers: their lanes, the driver that sends the passes of runs, and the keeper of their leases.

import type { Config } from '../config/config.ts'
import type { Claim } from '../ports/store.ts'
import { TIMER_LEASE_MS, Timers, type TimersDeps } from '../services/event/timers.ts'
import { AnotherPass } from '../services/pass/another-pass.ts'
import { Driver, type DriverDeps } from '../services/pass/driver.ts'
import { ForwardedCheckpoints } from '../services/pass/forwarded-checkpoints.ts'
import { HttpCheckpoints } from '../services/pass/http-checkpoints.ts'
import { LeaseKeeper, RUN_LEASE_MS } from '../services/pass/leases.ts'
import { type BulkSliceDeps, BulkSlices } from '../services/run/bulk-slice.ts'
import { LaneLoop } from '../services/support/lane.ts'
import type { PassName } from '../services/support/pass-tokens.ts'
import { type EngineCore, laneDeps } from './core.ts'
import type { RunnersPart } from './runners.ts'

export type RunsPart = ReturnType<typeof createRuns>

export function createRuns(
  { invokeTimeoutMs }: Config,
  core: EngineCore,
  { transport, health, load, registry, onRoomChange }: RunnersPart,
  bounds: Pick<DriverDeps, 'passesMax' | 'stateBytesMax' | 'messages'>,
) {
  const { log, announcer, clock } = core
  const { bus, queue, isShared } = core.backends
  const isLive = registry.isLive.bind(registry)
  const onRoom = () => queue.wake('runs', clock.now())
  const anotherPass = new AnotherPass({ ...core, untilParked: runId => driver.untilParked(runId) })
  const { httpCheckpoints, engineUrl, reachedAt } = createHttpCheckpoints(core, anotherPass)
  const driver: Driver = new Driver({
    ...core,
    transport,
    health,
    load,
    ...bounds,
    invokeTimeoutMs,
    isLive,
    onRoom,
    isShared,
    bus,
    httpCheckpoints,
    engineUrl,
  })
  /** Returns a function that acts on this engine and on every other: any of them may be driving the run. */
  const everywhere = (topic: 'interrupt' | 'recall', act: (runId: string) => void) => {
    bus?.on(topic, act)
    return (runId: string) => {
      act(runId)
      bus?.publish(topic, runId)
    }
  }
  const interrupt = everywhere('interrupt', runId => driver.interrupt(runId))
  announcer.onInterrupt(interrupt)
  onRoomChange((url, isForPeer) => driver.runnerRoomChanged(url, isForPeer))
  const claim = (claim: Claim) => driver.claim(claim)
  const mayLeaveDueRows = () => driver.leavesDueRuns
  return {
    driver,
    httpCheckpoints,
    anotherPass,
    reachedAt,
    /** Aborts the run's invoke in flight. */
    interrupt,
    /** For a run whose lease was taken away: aborts the pass in flight, on whichever engine it is. */
    giveUp: (runId: string) => {
      driver.giveUp(runId)
      interrupt(runId)
    },
    /** Takes the run's pass out of the queue for runner room. */
    withdraw: everywhere('recall', runId => driver.withdraw(runId)),
    leases: new LeaseKeeper({ ...core, driver, onError: err => log.error({ err }, 'leases not extended') }),
    work: driver,
    lane: new LaneLoop({
      ...laneDeps(core),
      lane: 'runs',
      leaseMs: RUN_LEASE_MS,
      work: driver,
      claim,
      mayLeaveDueRows,
    }),
  }
}

/** Creates the service for reports of runners over HTTP, and a function that sets the address at which they reach this engine. */
function createHttpCheckpoints(
  { backends: { bus, isShared }, clock, store, owner, passTokens: tokens }: EngineCore,
  anotherPass: AnotherPass,
) {
  let baseUrl = () => ''
  const receiveHere = (no: number, payload: string) => httpCheckpoints.receiveHere(no, payload)
  const forwarded = bus && new ForwardedCheckpoints({ bus, clock, store, receiveHere })
  const forward = forwarded && ((pass: PassName, payload: string) => forwarded.forward(pass, payload))
  const httpCheckpoints: HttpCheckpoints = new HttpCheckpoints({
    tokens,
    owner,
    forward,
    again: asked => anotherPass.request(asked),
    isShared,
    baseUrl: () => baseUrl(),
  })
  return {
    httpCheckpoints,
    engineUrl: () => baseUrl(),
    reachedAt(address: () => string) {
      baseUrl = address
    },
  }
}

/** The parts that due rows act on. */
type Timed = Pick<TimersDeps, 'ingest' | 'schedules' | 'timersMax'> &
  Pick<BulkSliceDeps, 'bulkSearchMs'> & { runs: Pick<RunsPart, 'interrupt' | 'withdraw'> }

export function createTimers(core: EngineCore, { runs, bulkSearchMs, ...firing }: Timed) {
  const { interrupt, withdraw } = runs
  const slices = new BulkSlices({ ...core, interrupt, withdraw, bulkSearchMs })
  const work = new Timers({ ...core, ...firing, bulk: row => slices.work(row) })
  const claim = (claim: Claim) => core.store.claimTimers(claim)
  return {
    work,
    lane: new LaneLoop({ ...laneDeps(core), lane: 'timers', leaseMs: TIMER_LEASE_MS, work, claim }),
  }
}

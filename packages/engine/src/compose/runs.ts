// Runs: their lane, the driver that sends their passes, and the keeper of their leases.

import type { Config } from '../config/config.ts'
import { Driver } from '../services/pass/driver.ts'
import { LeaseKeeper, RUN_LEASE_MS } from '../services/pass/leases.ts'
import type { Registry } from '../services/registry/register.ts'
import { LaneLoop } from '../services/support/lane.ts'
import type { Service } from '../services/support/service.ts'
import { type EngineCore, laneDeps } from './core.ts'
import type { RunnersPart } from './runners.ts'
import type { WorkPart } from './work.ts'

export interface RunsPart extends WorkPart {
  driver: Driver
  leases: Service
  /** Aborts the run's invoke in flight, whichever engine drives it. */
  interrupt(runId: string): void
  /** Takes the run's pass out of the queue for runner room, whichever engine drives it. */
  withdraw(runId: string): void
}

export function createRuns(
  { invokeTimeoutMs }: Config,
  core: EngineCore,
  { transport, health, registry, onRoomChange }: RunnersPart,
  passesMax: number,
): RunsPart {
  const { store, log, announcer } = core
  const { bus } = core.backends
  const isLive: Registry['isLive'] = runner => registry.isLive(runner)
  const driver = new Driver({ ...core, transport, health, passesMax, invokeTimeoutMs, isLive })
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
  return {
    driver,
    interrupt,
    withdraw: everywhere('recall', runId => driver.withdraw(runId)),
    leases: new LeaseKeeper({ ...core, driver, onError: err => log.error({ err }, 'leases not extended') }),
    capacity: driver.capacity,
    work: driver,
    lane: new LaneLoop({
      ...laneDeps(core),
      lane: 'runs',
      leaseMs: RUN_LEASE_MS,
      capacity: driver.capacity,
      claim: claim => store.claimRuns(claim),
      onClaimed: run => driver.accept(run),
    }),
  }
}

// Opens the clock of an engine: the server's if engines share the store, else a steady one over this machine's clock. Called by
// backends.

import type { Logger } from 'pino'
import { ServerClock } from '../adapters/clock/server.ts'
import { SteadyClock } from '../adapters/clock/steady.ts'
import { systemClock, systemSleptMs } from '../adapters/clock/system.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store, StoreTimes } from '../ports/store.ts'

/**
 * Two machines' clocks differ by less than this. If a store's newest time is further ahead, it was left by a clock that was
 * ahead.
 */
const AHEAD_MS_MAX = 1000
/** The times after a move at which the engine looks for rows that a decision from before the move committed after it. */
const STRANDED_AFTER_MS = [1000, 5000, 15_000]

export interface ClockOptions {
  store: Store
  /** The server's time, which all engines on the store use. */
  serverTime: (() => Promise<number>) | undefined
  /** The clock to use in place of this machine's. */
  local: Clock | undefined
  log: Logger
  /** Called when timers may be due sooner than their waiters know. */
  onMoved(): void
}

export async function openClock(options: ClockOptions): Promise<{ clock: Clock; stop: () => void }> {
  const { store, serverTime, local, log } = options
  if (serverTime && local) return { clock: local, stop: () => {} }
  if (serverTime) {
    const onError = (err: unknown) => log.warn({ err }, "the store's clock could not be read")
    const server = await ServerClock.follow({ local: systemClock, serverTime, onError })
    return { clock: server, stop: () => server.stop() }
  }
  return store.times ? openSteady(options, store.times) : { clock: local ?? systemClock, stop: () => {} }
}

async function openSteady({ local, log, onMoved }: ClockOptions, times: StoreTimes) {
  const machine = local ?? systemClock
  await catchUp(machine, times, log)
  const cancels: (() => void)[] = []
  const clock = new SteadyClock({
    local: machine,
    sleptMs: local ? () => 0 : systemSleptMs,
    moveTimes: by => times.move({ by, now: Math.floor(machine.now()) }),
    onMoved: by => {
      log.warn({ byMs: Math.round(by) }, 'the wall clock was set, and the stored times were moved')
      onMoved()
      for (const cancel of cancels.splice(0)) cancel()
      if (by < 0) cancels.push(...wakeStrandedLater(clock.now() - by))
    },
    onError: err => log.error({ err }, 'the wall clock was set, but the stored times could not be moved'),
  })
  const wakeStrandedLater = (until: number) =>
    STRANDED_AFTER_MS.map(ms =>
      machine.after(ms, () => {
        const stranded = { now: clock.now(), until: until + ms }
        times
          .wakeStranded(stranded)
          .then(onMoved, err =>
            log.error({ err }, 'the wall clock was set back, and due rows could not be woken: they may be late'),
          )
      }),
    )
  const stop = () => {
    clock.stop()
    for (const cancel of cancels) cancel()
  }
  return { clock, stop }
}

/** The clock was set back while no engine ran. By how much is unknown, but the store's newest time is not in the future. */
async function catchUp(machine: Clock, times: StoreTimes, log: Logger): Promise<void> {
  const now = machine.now()
  const aheadMs = (await times.latest()) - now
  if (aheadMs <= AHEAD_MS_MAX) return
  await times.move({ by: -aheadMs, now })
  log.warn({ byMs: -aheadMs }, 'the clock is behind the newest stored time, and the stored times were moved')
}

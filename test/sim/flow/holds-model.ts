// A reference model of what holds runs back, based only on docs/flow-control.md: which runs share a slot or a throttle, which run
// starts first, when a throttle allows the next start, and when a timeout ends a run.

export interface Limit {
  limit: number
  key?: 'event.data.a' | 'event.data.b'
  scope: 'workflow' | 'app' | 'namespace'
  hold?: 'run'
}

export interface Policies {
  name: string
  concurrency?: Limit[]
  throttle?: { limit: number; period: number; burst: number; key?: 'event.data.a' }
  priority?: string
  fairness?: { key: 'event.data.a'; weight?: string }
  timeouts?: { queue?: number; run?: number }
}

export interface Payload {
  a: string
  b: string
  p: number
}

/** The slots of a run by name, with the run's own limits. Runs that share a slot have the same name for it. */
export function slotsOf({ name, concurrency = [] }: Policies, data: Payload): Map<string, number> {
  const slots = new Map<string, number>()
  for (const { limit, key, scope } of concurrency) {
    const value = key === undefined ? 'none' : `=${key === 'event.data.a' ? data.a : data.b}`
    const slot = scope === 'workflow' ? `${name} ${key} ${value}` : `${scope} ${value}`
    slots.set(slot, Math.min(limit, slots.get(slot) ?? limit))
  }
  return slots
}

/**
 * The slots that a run holds: all of them while it is driven, and the slots of limits with `hold: "run"` from its start to its
 * end.
 */
export function heldSlotsOf(
  policies: Policies,
  data: Payload,
  { isDriven, isBetween }: { isDriven: boolean; isBetween: boolean },
): string[] {
  const { concurrency = [] } = policies
  if (isDriven) return [...slotsOf(policies, data).keys()]
  const kept = isBetween ? concurrency.filter(({ hold }) => hold === 'run') : []
  return [...slotsOf({ ...policies, concurrency: kept }, data).keys()]
}

export function priorityOf({ priority }: Policies, data: Payload): number {
  return priority === undefined ? 0 : data.p
}

/** The name of a throttle, which is the same for all runs that share it. */
export function throttleNameOf({ name, throttle }: Policies, data: Payload): string | undefined {
  return throttle && `${name} ${throttle.key === undefined ? '' : data.a}`
}

/** When the next start is allowed after starts at these times, in order. */
export function nextStart(
  { limit, period, burst }: NonNullable<Policies['throttle']>,
  starts: readonly number[],
): number {
  const interval = period / limit
  const free = starts.reduce((free, at) => Math.max(free, at) + interval, Number.NEGATIVE_INFINITY)
  return free - burst * interval
}

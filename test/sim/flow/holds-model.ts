// What holds runs back, as a model of its own: who shares a slot or a throttle with whom, who is to start before whom,
// when a throttle lets the next one start, and when a timeout ends it. Written from the interface alone.

export interface Limit {
  limit: number
  key?: 'event.data.a' | 'event.data.b'
  scope: 'workflow' | 'app' | 'namespace'
}

export interface Policies {
  name: string
  concurrency?: Limit[]
  throttle?: { limit: number; period: number; burst: number; key?: 'event.data.a' }
  priority?: string
  timeouts?: { queue?: number; run?: number }
}

export interface Payload {
  a: string
  b: string
  p: number
}

/** The slots of a run, by a name that two runs have in common if they share it, with the run's own limits. */
export function slotsOf({ name, concurrency = [] }: Policies, data: Payload): Map<string, number> {
  const slots = new Map<string, number>()
  for (const { limit, key, scope } of concurrency) {
    const value = key === undefined ? 'none' : `=${key === 'event.data.a' ? data.a : data.b}`
    const slot = scope === 'workflow' ? `${name} ${key} ${value}` : `${scope} ${value}`
    slots.set(slot, Math.min(limit, slots.get(slot) ?? limit))
  }
  return slots
}

export function priorityOf({ priority }: Policies, data: Payload): number {
  return priority === undefined ? 0 : data.p
}

/** Runs that share a throttle have this in common. */
export function throttleNameOf({ name, throttle }: Policies, data: Payload): string | undefined {
  return throttle && `${name} ${throttle.key === undefined ? '' : data.a}`
}

/** When the next start is free, after starts at these times, in their order. */
export function nextStart(
  { limit, period, burst }: NonNullable<Policies['throttle']>,
  starts: readonly number[],
): number {
  const interval = period / limit
  const free = starts.reduce((free, at) => Math.max(free, at) + interval, Number.NEGATIVE_INFINITY)
  return free - burst * interval
}

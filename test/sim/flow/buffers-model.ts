// A reference model of debounce and batch, based only on docs/flow-control.md: which runs follow from which events. It reads the
// events from the log and needs no clock: an event after a buffer's time is not in the buffer.

export interface Rule {
  name: string
  keyed: boolean
  debounce?: { period: number; timeout?: number; mode: 'last' | 'first' | 'all' }
  batch?: { maxSize: number; timeout: number }
}

export interface Logged {
  id: string
  at: number
  data: { n: number; key?: string }
}

export interface Expected {
  input: unknown
  eventId: string
  /** Ids of all events of the buffer. */
  eventIds: string[]
  /** When the run should be created, if an engine is up. */
  at: number
  /** The event that completes the buffer, if any. */
  by?: string
}

interface Open {
  first: Logged
  events: Logged[]
  fireAt: number
}

/** The runs that follow from these events, once no event has come for long enough. */
export function runsOf(rule: Rule, events: readonly Logged[]): Expected[] {
  const runs: Expected[] = []
  const open = new Map<string, Open>()
  const close = (key: string, at: number, by?: string) => {
    const { events } = open.get(key) as Open
    open.delete(key)
    const first = events[0] as Logged
    const last = events.at(-1) as Logged
    const payloads = events.map(({ data }) => data)
    const one = rule.debounce?.mode === 'first' ? first : last
    const whole = rule.batch !== undefined || rule.debounce?.mode === 'all'
    const input = whole ? payloads : one.data
    const eventIds = events.map(({ id }) => id)
    runs.push({ input, eventId: one.id, eventIds, at, ...(by === undefined ? {} : { by }) })
  }
  for (const event of events) {
    if (rule.debounce && rule.keyed && event.data.key === undefined) {
      const input = rule.debounce.mode === 'all' ? [event.data] : event.data
      runs.push({ input, eventId: event.id, eventIds: [event.id], at: event.at, by: event.id })
      continue
    }
    const key = (rule.keyed && event.data.key) || ''
    const over = open.get(key)
    if (over && over.fireAt <= event.at) close(key, over.fireAt)
    const buffer = open.get(key) ?? { first: event, events: [], fireAt: 0 }
    open.set(key, buffer)
    buffer.events.push(event)
    const { debounce, batch } = rule
    if (debounce) {
      const { period, timeout = Number.POSITIVE_INFINITY } = debounce
      buffer.fireAt = Math.min(event.at + period, buffer.first.at + timeout)
    } else if (batch) {
      buffer.fireAt = buffer.first.at + batch.timeout
      if (buffer.events.length >= batch.maxSize) close(key, event.at, event.id)
    }
  }
  for (const [key, { fireAt }] of [...open]) close(key, fireAt)
  return runs
}

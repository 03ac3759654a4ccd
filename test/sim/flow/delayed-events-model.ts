// A reference model of events sent for later, based only on docs/events.md#send-an-event-later: when each may arrive, and that it
// arrives or is deleted, never both. delayed-events.test.ts uses it.

import { ensure } from '../core/violation.ts'

/** An event that a client has sent. */
export interface Sent {
  n: number
  /** When the event should arrive: the time of sending, if that is later. */
  at: number
  /** Unknown if only a repeat was answered. */
  id?: string
  /** A deletion was answered with 204. */
  isDeleted: boolean
  /** A deletion was not answered, so it may have happened. */
  mayBeDeleted: boolean
  /** A deletion was answered with 404 although none had happened, so the event has arrived. */
  hasArrived: boolean
  /** How often the event was in the log at the model's last look. */
  arrivals: number
}

/** The store as it is now. */
export interface Seen {
  log: readonly { id: string; n: number; receivedAt: number }[]
  /** The events that are listed as scheduled. */
  listed: readonly { id: string; n: number }[]
  /** Ids of events, one for each deletion in the audit log. */
  deletions: readonly string[]
  /** The latest time that an engine's clock has shown since the last look. */
  latest: number
}

export class Model {
  readonly sent: Sent[] = []

  add(at: number, id: string | undefined): void {
    const n = this.sent.length
    this.sent.push({
      n,
      at,
      ...(id === undefined ? {} : { id }),
      isDeleted: false,
      mayBeDeleted: false,
      hasArrived: false,
      arrivals: 0,
    })
  }

  /** The answers to deletions that were requested together; undefined for one whose engine died. */
  deleted(sent: Sent, statuses: readonly (number | undefined)[]): void {
    const done = statuses.filter(status => status === 204).length
    ensure(done === 0 || (done === 1 && !sent.isDeleted), 'one deletion succeeds', () => `event ${sent.n}: ${statuses}`)
    if (done === 1) {
      ensure(!sent.hasArrived, 'an event that has arrived is not deleted', () => `event ${sent.n}`)
      sent.isDeleted = true
    }
    if (statuses.includes(undefined)) sent.mayBeDeleted = true
    else if (!sent.isDeleted && !sent.mayBeDeleted) sent.hasArrived = true
  }

  /** Events that have neither arrived nor been deleted, as far as clients know. */
  get open(): Sent[] {
    return this.sent.filter(({ isDeleted, arrivals }) => !isDeleted && arrivals === 0)
  }

  look({ log, listed, deletions, latest }: Seen): void {
    for (const one of this.sent) this.#lookAt(one, { log, listed, deletions, latest })
    const known = this.sent.length
    for (const { n } of [...log, ...listed]) ensure(n < known, 'every event was sent', () => `event ${n}`)
  }

  #lookAt(sent: Sent, { log, listed, deletions, latest }: Seen): void {
    const { n, at } = sent
    const arrivals = log.filter(event => event.n === n)
    const rows = listed.filter(event => event.n === n)
    const ids = new Set([...arrivals, ...rows].map(({ id }) => id))
    if (sent.id !== undefined) ids.add(sent.id)
    ensure(ids.size <= 1, 'an event has one id', () => `event ${n}: ${[...ids]}`)
    const [id] = ids
    if (id !== undefined) sent.id = id
    const deleted = deletions.filter(one => one === id).length
    const fates = { arrived: arrivals.length, listed: rows.length, deleted }
    const sum = fates.arrived + fates.listed + fates.deleted
    ensure(sum === 1, 'an event is scheduled, arrives or is deleted', () => `event ${n}: ${JSON.stringify(fates)}`)
    ensure(!sent.isDeleted || deleted === 1, 'a deletion that was answered counts', () => `event ${n}`)
    ensure(deleted === 0 || sent.isDeleted || sent.mayBeDeleted, 'no event is deleted by itself', () => `event ${n}`)
    ensure(
      !sent.hasArrived || fates.arrived === 1,
      'an event that could not be deleted is in the log',
      () => `event ${n}`,
    )
    const [arrival] = arrivals
    if (!arrival) return
    const early = () => `event ${n} of ${at}: received at ${arrival.receivedAt}, seen by ${latest}`
    ensure(arrival.receivedAt >= at, 'no event is dated before its time', early)
    if (sent.arrivals === 0) ensure(latest >= at, 'no event arrives before its time', early)
    sent.arrivals = 1
  }
}

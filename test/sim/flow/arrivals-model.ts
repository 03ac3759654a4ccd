// A reference model of events under idempotency, rateLimit, singleton and cancelOn. It follows docs/flow-control.md only, and
// processes the events in log order.

export interface Policies {
  name: string
  triggers: { event: string }[]
  idempotency?: { key: 'event.data.id'; ttl: number }
  rateLimit?: { limit: number; period: number; key?: 'event.data.k' }
  singleton?: { mode: 'skip' | 'cancel'; key?: 'event.data.k' }
  cancelOn?: { event: string; if?: 'event.data.k == async.data.k'; match?: 'data.k' }[]
}

export interface Payload {
  /** Absent or null: policies with such a key do not apply to the event. */
  k?: string
  id?: number | null
  /** Identifies the event. */
  token: string
}

export interface ModelEvent {
  id: string
  name: string
  data: Payload
  at: number
}

export interface ModelRun {
  eventId: string
  policies: Policies
  data: Payload
  status: 'live' | 'cancelled' | 'succeeded'
}

export type Outcome = 'run' | 'deduped' | 'dropped' | 'skipped'
/** `any`: a crash may have cost a token, so the model does not know whether the limit drops the event. */
export type Expected = Outcome | 'any'

export class Model {
  readonly runs: ModelRun[] = []
  readonly #claims = new Map<string, number>()
  readonly #takes = new Map<string, { at: number; sure: boolean }[]>()
  readonly #workflows: readonly Policies[]

  constructor(workflows: readonly Policies[]) {
    this.#workflows = workflows
  }

  /**
   * The outcome of the next event of the log, by workflow. `reported` is the engine's answer, for facts that only the engine
   * knows.
   */
  arrive(event: ModelEvent, reported: (workflow: string) => Outcome | undefined): Map<string, Expected> {
    for (const run of this.#live()) if (isCancelledBy(run, event)) run.status = 'cancelled'
    const expected = new Map<string, Expected>()
    for (const policies of this.#workflows) {
      if (policies.triggers.every(trigger => trigger.event !== event.name)) continue
      expected.set(policies.name, this.#meet(policies, event, reported(policies.name)))
    }
    return expected
  }

  /** Handles an event that was being sent when the engine died and is not in the log. Its tokens may be spent. */
  lost(name: string, data: Payload, at: number): void {
    for (const policies of this.#workflows) {
      if (
        !policies.rateLimit ||
        !hasKey(policies.rateLimit, data) ||
        policies.triggers.every(trigger => trigger.event !== name)
      )
        continue
      this.#tokens(policies, data, at).push({ at, sure: false })
    }
  }

  #meet(policies: Policies, event: ModelEvent, reported: Outcome | undefined): Expected {
    const { name, idempotency, rateLimit, singleton } = policies
    const { data, at } = event
    if (idempotency && data.id != null) {
      const claim = `${name} ${data.id}`
      if ((this.#claims.get(claim) ?? 0) > at) return 'deduped'
      this.#claims.set(claim, at + idempotency.ttl)
    }
    let isAny = false
    if (rateLimit && hasKey(rateLimit, data)) {
      const tokens = this.#tokens(policies, data, at)
      const sure = tokens.filter(token => token.sure).length
      if (sure >= rateLimit.limit) return 'dropped'
      isAny = tokens.length >= rateLimit.limit
      if (isAny && reported === 'dropped') return 'any'
      tokens.push({ at, sure: true })
    }
    if (singleton && hasKey(singleton, data)) {
      const key = (payload: Payload) => singleton.key && payload.k
      const others = this.#live().filter(
        run => run.policies === policies && hasKey(singleton, run.data) && key(run.data) === key(data),
      )
      if (others.length > 0 && singleton.mode === 'skip') return isAny ? 'any' : 'skipped'
      for (const other of others) other.status = 'cancelled'
    }
    this.runs.push({ eventId: event.id, policies, data, status: 'live' })
    return isAny ? 'any' : 'run'
  }

  /** The tokens that count at that time. */
  #tokens({ name, rateLimit }: Policies, data: Payload, at: number) {
    const key = `${name} ${rateLimit?.key && data.k}`
    const counting = (this.#takes.get(key) ?? []).filter(take => take.at + (rateLimit?.period ?? 0) > at)
    this.#takes.set(key, counting)
    return counting
  }

  #live(): ModelRun[] {
    return this.runs.filter(({ status }) => status === 'live')
  }
}

function isCancelledBy({ policies, data }: ModelRun, event: ModelEvent): boolean {
  return (policies.cancelOn ?? []).some(
    ({ event: name, if: filter, match }) =>
      name === event.name && ((filter ?? match) === undefined || (data.k !== undefined && data.k === event.data.k)),
  )
}

/** Whether the policy has a key for the event. */
function hasKey({ key }: { key?: 'event.data.k' }, data: Payload): boolean {
  return key === undefined || data.k !== undefined
}

// Decides and commits; after a lost race it reads what changed and decides again. The questions of a decision are answered before
// it is committed. Called by services that decide on rows; the others commit to the store themselves, and handle its StaleError.

import { liveKey } from '../../domain/arrival/live/live-runs.ts'
import { Evaluations } from '../../domain/expressions/evaluations.ts'
import type { Guard, Unit } from '../../domain/model/change.ts'
import type { DecidedUnit, Question } from '../../domain/model/decision.ts'
import { invariant, StaleError } from '../../domain/model/errors.ts'
import type { Run } from '../../domain/model/run.ts'
import { type Assumptions, dedupeName, noAssumptions } from '../../domain/run/assumptions.ts'
import { RunState } from '../../domain/run/state.ts'
import type { Limiter } from '../../ports/limiter.ts'
import type { Store } from '../../ports/store.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { JoinedReads } from '../support/joined-reads.ts'
import { KeyMutex } from '../support/key-mutex.ts'
import { readMatched, readWaiters, readWatchers } from './read-waits.ts'
import { decideInTurns } from './turns.ts'

/** Lost races in a row before giving up. Contention causes far fewer: only a defect reaches this number. */
const RACES_MAX = 1000
/** Events in one read when a wait reads past events. */
const EVENTS_PAGE = 200

/** Guards of facts that decisions read from the catalog, not from the store. */
const CATALOG_GUARDS: ReadonlySet<Guard['type']> = new Set(['catalog', 'registered', 'paused'])

export interface DecideAndCommit<D> {
  store: Store
  /** The namespace of a decision that evaluates expressions: namespaces take turns when they take long (turns.ts). */
  namespace?: string
  /** Decides on the assumptions; undefined: there is nothing (more) to do. Synchronous if it evaluates expressions. */
  decide(assumptions: Assumptions): D | undefined | Promise<D | undefined>
  /** Questions to answer before the decision can be committed; then it is decided again. Absent: its own. */
  questions?(decision: D): readonly Question[]
  /** Called before questions are answered. `again`: decide again first; false: give up, without a result. */
  mayAsk?(): Promise<boolean | 'again'>
  /** Answers questions about rate limits. */
  limiter?: Pick<Limiter, 'take'>
  /** Refreshed when a decision rested on an earlier revision of it. */
  catalog?: Pick<Catalog, 'refresh'>
  /** The unit of the decision; absent: the decision itself. */
  unit?(decision: D): Unit
  /** Makes a unit durable; absent: the store's commit. */
  commit?(unit: Unit): Promise<void>
  /** Called when a guard fails that is not about an assumption; false: give up, without a result. */
  onStale(guard: Guard): boolean | Promise<boolean>
}

/** The decision that was made durable, or undefined if `decide` or `onStale` ended it. */
export async function decideAndCommit<D extends DecidedUnit>(options: DecideAndCommit<D>): Promise<D | undefined>
export async function decideAndCommit<D>(
  options: DecideAndCommit<D> & Required<Pick<DecideAndCommit<D>, 'unit'>>,
): Promise<D | undefined>
export async function decideAndCommit<D>(options: DecideAndCommit<D>): Promise<D | undefined> {
  const { store, namespace, catalog, decide, questions, mayAsk, unit, commit, onStale } = options
  const assumptions = noAssumptions()
  const evaluations = namespace === undefined ? undefined : new Evaluations()
  // At most one mutex is held at a time, so that no two callers can wait for each other.
  let releaseRow = () => {}
  try {
    for (let races = 0; races < RACES_MAX; races++) {
      const decision = await (namespace === undefined
        ? decide(assumptions)
        : decideInTurns(namespace, () => decide(assumptions), evaluations))
      if (decision === undefined) return undefined
      assumptions.now = undefined
      const { questions: own = [] } = decision as Partial<DecidedUnit>
      const open = questions ? questions(decision) : own
      if (open.length > 0) {
        const may = mayAsk ? await mayAsk() : true
        if (may === 'again') continue
        if (!may) return undefined
        for (const question of open) await answerQuestion(question, assumptions, options)
        continue
      }
      const made = unit ? unit(decision) : (decision as unknown as Unit)
      try {
        await (commit ? commit(made) : store.commit(made))
        return decision
      } catch (error) {
        if (!(error instanceof StaleError)) throw error
        const { guard } = error
        releaseRow()
        if (guard.type === 'flow') releaseRow = await rowMutexOf(store).acquire(guard.id)
        if (catalog && CATALOG_GUARDS.has(guard.type)) assumptions.isCatalogFresh = await catalog.refresh()
        else if (!(await refreshAssumption(store, assumptions, guard)) && !(await onStale(guard))) return undefined
        await refreshAlike(store, assumptions, made.guards, guard)
      }
    }
  } finally {
    releaseRow()
  }
  throw new Error(`Lost ${RACES_MAX} races in a row.`)
}

/** One instance for all services on a store. */
function perStore<T>(create: () => T): (store: Store) => T {
  const all = new WeakMap<Store, T>()
  return store => {
    const own = all.get(store) ?? create()
    all.set(store, own)
    return own
  }
}

/** By the id of a flow-control row. */
const rowMutexOf = perStore(() => new KeyMutex())
const newestReadsOf = perStore(() => new JoinedReads<Run | null>())

/**
 * Reads all other facts of the same kind that were assumed without a read. Otherwise a decision on many rows would be decided
 * again for each of them.
 */
async function refreshAlike(
  store: Store,
  assumptions: Assumptions,
  guards: readonly Guard[],
  { type }: Guard,
): Promise<void> {
  const alike = guards.filter(guard => guard.type === type && isUnread(assumptions, guard))
  await Promise.all(alike.map(guard => refreshAssumption(store, assumptions, guard)))
}

function isUnread(assumptions: Assumptions, guard: Guard): boolean {
  switch (guard.type) {
    case 'waiters':
    case 'watchers':
      return !assumptions[guard.type].has(guard.eventName)
    case 'flow':
      return !assumptions.flow.has(guard.id)
    case 'live':
    case 'started':
    case 'unended':
      return !assumptions.live.has(liveKey(guard))
    case 'dedupe':
      return guard.assumed === true && !assumptions.dedupes.has(dedupeName(guard))
    default:
      return false
  }
}

/** Reads the facts of a wrong assumption. False when the guard is not about an assumption. */
export async function refreshAssumption(store: Store, assumptions: Assumptions, guard: Guard): Promise<boolean> {
  switch (guard.type) {
    case 'waiters':
    case 'waitPaths':
      await readWaiters(store, assumptions, guard)
      return true
    case 'flow':
      await answerQuestion(guard, assumptions, { store })
      return true
    case 'events': {
      const { eventName, after } = guard
      const page = await store.eventsSince({ ...guard, limit: EVENTS_PAGE })
      const earlier = assumptions.events.get(eventName)?.events ?? []
      const events = [...earlier, ...page.filter(({ isHidden }) => !isHidden)]
      const read = { events, after: page.at(-1)?.position ?? after }
      assumptions.events = new Map(assumptions.events).set(eventName, read)
      return true
    }
    case 'watchers':
    case 'watchPaths':
      await readWatchers(store, assumptions, guard)
      return true
    case 'live':
    case 'started':
    case 'unended':
      assumptions.live = new Map(assumptions.live).set(liveKey(guard), await store.liveRuns(guard))
      return true
    case 'inboxRoom':
      assumptions.full = new Set(assumptions.full).add(guard.runId)
      return true
    case 'dedupe': {
      if (!guard.assumed) return false
      const claim = await store.dedupeClaim(guard)
      const dedupes = new Map(assumptions.dedupes)
      if (claim) dedupes.set(dedupeName(guard), claim.eventId ?? null)
      assumptions.dedupes = dedupes
      return true
    }
    case 'inbox': {
      // The decision that a run ends depended on the run's inbox: the next decision requests the run again.
      const runs = [...assumptions.runs].filter(([, { run }]) => run.inbox !== guard.inbox)
      if (runs.length === assumptions.runs.size) return false
      assumptions.runs = new Map(runs)
      return true
    }
    case 'limit':
      assumptions.budgets = undefined
      return true
    case 'run':
    case 'steps':
      if (forgetNewest(assumptions, guard.runId)) return true
      // A run that the decision ends has changed: the next decision requests it again.
      if (!assumptions.runs.has(guard.runId)) return false
      assumptions.runs = new Map([...assumptions.runs].filter(([runId]) => runId !== guard.runId))
      return true
    default:
      return false
  }
}

/** Makes the next decision request a run again that a step waits for. False if no step waits for it. */
function forgetNewest(assumptions: Assumptions, runId: string): boolean {
  const left = [...assumptions.newest].filter(([, newest]) => newest?.id !== runId)
  if (left.length === assumptions.newest.size) return false
  assumptions.newest = new Map(left)
  return true
}

/** Reads the answer to a question of a decision, or gets it from the limiter. */
export async function answerQuestion(
  question: Question,
  assumptions: Assumptions,
  { store, limiter }: { store: Store; limiter?: Pick<Limiter, 'take'> },
): Promise<void> {
  if (question.type === 'flow') {
    const row = (await store.flowRow(question.id)) ?? null
    assumptions.flow = new Map(assumptions.flow).set(question.id, row)
  } else if (question.type === 'matched') {
    await readMatched(store, assumptions, question)
  } else if (question.type === 'run') {
    const loaded = await store.loadRun(question.runId)
    if (loaded) assumptions.runs = new Map(assumptions.runs).set(question.runId, RunState.loaded(loaded))
    else assumptions.live = noAssumptions().live
  } else if (question.type === 'newest') {
    const key = JSON.stringify([question.namespace, question.runId])
    const newest = await newestReadsOf(store).read(key, () => newestOf(store, question))
    assumptions.newest = new Map(assumptions.newest).set(question.runId, newest)
  } else if (question.type === 'inbox') {
    const { state, id, given } = question
    state.inbox = { ...(await store.inbox(id, given)), given }
  } else if (question.type === 'budgets') {
    assumptions.budgets = await store.budgets(question.ids)
  } else if (!assumptions.limiterAnswers.has(question.of)) {
    invariant(limiter, 'a service that decides on arrivals has a limiter')
    const admitted = await limiter.take(question.quota)
    assumptions.limiterAnswers = new Map(assumptions.limiterAnswers).set(question.of, admitted)
  }
}

/** The newest run of the chain of a run, whose first runs retention may have removed; null if the namespace has none. */
async function newestOf(store: Store, { namespace, runId }: { namespace: string; runId: string }): Promise<Run | null> {
  const reads = store.in(namespace)
  const [id = runId] = await reads.storedIds([runId])
  const run = await reads.run(id)
  if (run && run.continuedAs === undefined) return run
  return (await reads.newestOfChain(run?.chainId ?? id)) ?? null
}

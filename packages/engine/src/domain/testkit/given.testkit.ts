// The tests of the domain read: given a run and its steps, when something happens, then these changes follow.

import type { Start } from '../holds/throttle.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { Change } from '../model/change.ts'
import type { Decision, Next } from '../model/decision.ts'
import { type Endpoint, isSubscribed } from '../model/endpoint.ts'
import type { Event, Waiter, Watcher } from '../model/event.ts'
import type { FlowRow } from '../model/flow-row.ts'
import type { Run } from '../model/run.ts'
import type { Step } from '../model/step.ts'
import { advance } from '../pass/advance.ts'
import type { Outcome, Reported } from '../pass/answer/outcome.ts'
import { begin, giveBack, holdForRunner } from '../pass/begin.ts'
import { acknowledge, checkpoint } from '../pass/checkpoint.ts'
import type { PassContext, RunnerKnowledge } from '../pass/opcodes/context.ts'
import type { Route } from '../pass/routing.ts'
import { type Assumptions, noAssumptions } from '../run/assumptions.ts'
import { cancel, pause, resume } from '../run/control.ts'
import { RunState } from '../run/state.ts'
import { frozen } from './frozen.testkit.ts'
import { catalog, type GivenStep, NOW, runner, SECOND, workflow } from './nouns.testkit.ts'

export const toRunner: Route = { kind: 'runner', runner: runner('r1') }

interface Circumstances {
  now: number
  sentAt: number | undefined
  sentAttempt: number | undefined
  knowledge: Partial<RunnerKnowledge>
  random: number
  catalog: CatalogView
  assumptions: Assumptions
}

const ORDINARY: Circumstances = {
  now: NOW,
  sentAt: undefined,
  sentAttempt: undefined,
  knowledge: {},
  random: 0.5,
  catalog: catalog(workflow('order')),
  assumptions: noAssumptions(),
}

/** A leased run as its owner has it in memory, with these steps in order. */
export function given(run: Run, ...steps: GivenStep[]): Given {
  return new Given(RunState.claimed(rows(run, steps)), ORDINARY)
}

/** The same run, freshly loaded by somebody other than its owner. */
export function givenLoaded(run: Run, ...steps: GivenStep[]): Given {
  return new Given(RunState.loaded(rows(run, steps)), ORDINARY)
}

function rows(run: Run, steps: readonly GivenStep[]) {
  const rows = steps.map((step, index): Step => ({ ...step, runId: run.id, index, seq: 10 + index }))
  return frozen({ run, steps: rows, rootLogged: 0 })
}

export class Given {
  readonly state: RunState
  readonly #world: Circumstances

  constructor(state: RunState, world: Circumstances) {
    this.state = state
    this.#world = world
  }

  at(now: number): Given {
    return this.#in({ now })
  }

  /** When the pass was sent (default: now), and how many settled steps its memo had (default: all). */
  sent(at: number, settled?: number): Given {
    return this.#in({ sentAt: at, knowledge: settled === undefined ? {} : { settled } })
  }

  /** Changes what the runner knows, as the acks of the pass do. */
  acked(knowledge: Partial<RunnerKnowledge>): Given {
    return this.#in({ knowledge: { ...this.#world.knowledge, ...knowledge } })
  }

  /** The attempt of the run when the pass was sent (default: the run's). */
  sentAttempt(sentAttempt: number): Given {
    return this.#in({ sentAttempt })
  }

  /** The random number in [0, 1); the default, 0.5, leaves every delay without jitter. */
  random(random: number): Given {
    return this.#in({ random })
  }

  registered(...workflows: Parameters<typeof catalog>): Given {
    return this.#in({ catalog: catalog(...workflows) })
  }

  /** The newest run of the chain of a run that a step waits for; null: there is no such run. */
  newest(runId: string, run: Run | null): Given {
    const { assumptions } = this.#world
    return this.#in({ assumptions: { ...assumptions, newest: new Map(assumptions.newest).set(runId, run) } })
  }

  /** The webhook endpoints of the namespace. */
  subscribed(...endpoints: Endpoint[]): Given {
    const subscribers: CatalogView['subscribers'] = (kind, app) =>
      endpoints.filter(endpoint => isSubscribed(endpoint, kind, app))
    return this.#in({ catalog: { ...this.#world.catalog, subscribers } })
  }

  /** The log has these events of one name, up to position `after`. */
  logged(name: string, events: readonly Event[], after: number): Given {
    const logged = events.map((event, i) => ({ event, position: after - events.length + 1 + i }))
    const known = new Map(this.#world.assumptions.events).set(name, { events: logged, after })
    const assumptions = { ...this.#world.assumptions, events: known }
    return this.#in({ assumptions })
  }

  /** The store has the row of callbacks that came before the run waited for them. */
  early(row: FlowRow): Given {
    return this.#in({ assumptions: { ...this.#world.assumptions, flow: new Map([[row.id, row]]) } })
  }

  /** These steps wait for an event name, oldest first. */
  waiters(name: string, ...waiters: Waiter[]): Given {
    return this.#in({ assumptions: { ...this.#world.assumptions, waiters: new Map([[name, waiters]]) } })
  }

  /** These live runs watch for an event name. */
  watching(name: string, ...watchers: Watcher[]): Given {
    const assumptions = { ...this.#world.assumptions, watchers: new Map([[name, { watchers, after: 1 }]]) }
    return this.#in({ assumptions })
  }

  /** The pass ended with the outcome. */
  when(outcome: Outcome): Then {
    return this.#then(advance(this.state, outcome, this.#context()))
  }

  /** The runner reported a checkpoint, and the pass continues. */
  whenCheckpointed(reported: Outcome): Then {
    return this.#then(checkpoint(this.state, reported as Reported, this.#context()))
  }

  #context(): PassContext {
    const { now, random, catalog, assumptions, sentAt = now, sentAttempt = this.state.run.attempt } = this.#world
    const { settledCount, lastStepSeq } = this.state
    const memo = {
      asOf: sentAt,
      settled: settledCount,
      seq: lastStepSeq,
      wasSentSettled: false,
      stopRequested: false,
    }
    return {
      now,
      sentAt,
      sentAttempt,
      knowledge: { ...memo, ...this.#world.knowledge },
      random: () => random,
      catalog,
      assumptions,
      report: () => {},
    }
  }

  /** `start`: the answer of the run's throttle. */
  whenLeased(route: Route = toRunner, start?: Start): Then {
    const { now, catalog, assumptions } = this.#world
    return this.#then(begin(this.state, { now, route, catalog, assumptions, report: () => {}, start }))
  }

  whenNoRunnerIsReached(): Then {
    return this.#then({ decision: holdForRunner(this.state, this.#world.now) })
  }

  whenGivenBack(): Then {
    return this.#then({ decision: giveBack(this.state, this.#world.now) })
  }

  whenCancelled(): Then {
    const { now, catalog } = this.#world
    return this.#then({ decision: cancel(this.state, { now, catalog }) })
  }

  whenPaused(): Then {
    return this.#then({ decision: pause(this.state, this.#world.now) as Decision })
  }

  whenResumed(): Then {
    return this.#then({ decision: resume(this.state, this.#world.now) })
  }

  #in(world: Partial<Circumstances>): Given {
    return new Given(this.state, frozen({ ...this.#world, ...world }))
  }

  #then(decided: { decision: Decision; next?: Next }): Then {
    return new Then(this.state, this.#world, decided)
  }
}

export class Then {
  readonly decision: Decision
  readonly next: Next | undefined
  readonly #before: RunState
  readonly #world: Circumstances

  constructor(before: RunState, world: Circumstances, { decision, next }: { decision: Decision; next?: Next }) {
    this.decision = frozen(decision)
    this.next = next
    this.#before = before
    this.#world = world
  }

  get run(): Run {
    return this.decision.run
  }

  get guards() {
    return this.decision.guards
  }

  /** The types of the changes, in order. */
  get written(): string[] {
    return this.decision.changes.map(({ type }) => type)
  }

  /** The ack of a checkpoint that wrote the steps of this decision, with `others` to report. */
  ack(others: readonly Step[] = [], stop = false): unknown {
    return JSON.parse(acknowledge({ seq: 1, written: this.decision.steps, others, stop }))
  }

  /** Statuses of the steps by name, in index order. */
  get steps(): Record<string, Step['status']> {
    return Object.fromEntries(this.#rows().map(({ name, status }) => [name, status]))
  }

  step(name: string): Step {
    const found = this.#rows().find(step => step.name === name)
    if (!found) throw new Error(`There is no step ${name}.`)
    return found
  }

  changes<T extends Change['type']>(type: T): Extract<Change, { type: T }>[] {
    return this.decision.changes.filter((change): change is Extract<Change, { type: T }> => change.type === type)
  }

  /** The first run that the decision creates. */
  get created(): Run | undefined {
    return this.changes('run.created')[0]?.run
  }

  /** The decision is durable, and the same owner decides again `later` ms later. */
  afterCommit(later = 0): Given {
    this.#before.apply(this.decision)
    return new Given(this.#before, {
      ...ORDINARY,
      catalog: this.#world.catalog,
      now: this.#world.now + later,
    })
  }

  /** Another engine leases the run at `at`: the fence rises by one. */
  leasedAgain(at: number): Given {
    const run = {
      ...this.run,
      fence: this.run.fence + 1,
      leaseOwner: 'engine-2',
      availableAt: at + 15 * SECOND,
    }
    const state = RunState.claimed({ run, steps: this.#rows(), rootLogged: this.decision.rootLogged })
    return new Given(state, { ...ORDINARY, catalog: this.#world.catalog, now: at })
  }

  #rows(): Step[] {
    const steps = new Map(this.#before.steps)
    for (const step of this.decision.steps) steps.set(step.id, step)
    return [...steps.values()].sort((a, b) => a.index - b.index)
  }
}

// Starts runs of a workflow directly, without an event (docs/concepts.md#start-a-workflow-directly). With an id of the caller's a
// repeat starts nothing and answers the first run. Called by the HTTP routes.

import { startAlone } from '../../domain/arrival/singleton.ts'
import type { Attributes } from '../../domain/model/attributes.ts'
import type { Unit } from '../../domain/model/change.ts'
import type { Question } from '../../domain/model/decision.ts'
import { EngineError, invariant } from '../../domain/model/errors.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Workflow } from '../../domain/model/workflow.ts'
import { catalogGuards, registeredGuards } from '../../domain/run/assumptions.ts'
import { directRun } from '../../domain/run/create.ts'
import { hasEngineForm, storedRunId } from '../../domain/text/ids.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import { describeStart, type StartPolicies } from '../../domain/why/dry-run.ts'
import type { RunView } from '../../ports/store-reads.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { decideInTurns } from '../commit/turns.ts'
import type { Driver } from '../pass/driver.ts'

export interface StartRequest {
  app: string
  name: string
  input?: JsonText
  /** The id that the run is to have. */
  runId?: string
  attributes?: Attributes
}

export interface Started {
  run: RunView
  /** The run has been there already, and nothing was started. */
  isRepeat: boolean
}

/** The effect that a start would have now. */
export interface StartPreview {
  workflow: Workflow
  /** The run that has the id already. */
  run: RunView | undefined
  policies: StartPolicies
  /** The live run for which a singleton would refuse the start. */
  liveRunId: string | undefined
}

export interface StartsDeps extends Pick<Core, 'store' | 'catalog' | 'announcer' | 'clock' | 'ids' | 'report'> {
  driver: Pick<Driver, 'leaseAtCreation'>
  /** Throws `namespace_suspended`. */
  assertActive(namespace: string): void
}

interface Decided extends Unit {
  run: Run
  questions: Question[]
}

export class Starts {
  readonly #deps: StartsDeps

  constructor(deps: StartsDeps) {
    this.#deps = deps
  }

  /**
   * @throws EngineError `not_found`, `conflict` for an id that another workflow's run or an erased run has, `namespace_suspended`,
   * `already_running` for a singleton.
   */
  async start(actor: Actor, wanted: StartRequest): Promise<Started> {
    const { namespace } = actor
    await this.#workflow(namespace, wanted)
    // The guard of the creation finds a run that was given the id. Only a run that has it from an engine is looked for first.
    const earlier = hasEngineForm(wanted.runId) ? await this.#earlier(namespace, wanted) : undefined
    if (earlier) return { run: earlier, isRepeat: true }
    const run = await this.#create(actor, wanted).catch(async (error: unknown) => {
      // The live run of a singleton may be the one that has the id.
      const first = isAlreadyRunning(error) ? await this.#earlier(namespace, wanted) : undefined
      if (!first) throw error
    })
    if (run) return { run, isRepeat: false }
    const first = await this.#earlier(namespace, wanted)
    invariant(first, 'another start took the id')
    return { run: first, isRepeat: true }
  }

  /** Decides as `start`, and stores nothing. */
  async preview({ namespace }: Actor, wanted: StartRequest): Promise<StartPreview> {
    const workflow = await this.#workflow(namespace, wanted)
    const run = await this.#earlier(namespace, wanted)
    const policies = await decideInTurns(namespace, () => describeStart(workflow, wanted.input))
    return { workflow, run, policies, liveRunId: await this.#liveRunId(workflow, policies) }
  }

  async #liveRunId({ namespace, app, name }: Workflow, { singleton }: StartPolicies): Promise<string | undefined> {
    if (singleton?.mode !== 'skip' || singleton.key === undefined) return undefined
    const [live] = await this.#deps.store.liveRuns({ namespace, app, workflow: name, key: singleton.key })
    return live
  }

  async #workflow(namespace: string, wanted: StartRequest): Promise<Workflow> {
    const { catalog, assertActive } = this.#deps
    assertActive(namespace)
    // Another engine may have registered it a moment ago.
    if (!catalog.view(namespace).workflow(wanted.app, wanted.name)) await catalog.refresh()
    return this.#known(namespace, wanted)
  }

  #known(namespace: string, { app, name }: StartRequest): Workflow {
    const workflow = this.#deps.catalog.view(namespace).workflow(app, name)
    if (!workflow) throw new EngineError('not_found', `There is no workflow ${name} of app ${app}.`)
    return workflow
  }

  /** The run that has the id. */
  async #earlier(namespace: string, { app, name, runId }: StartRequest): Promise<RunView | undefined> {
    if (runId === undefined) return undefined
    const reads = this.#deps.store.in(namespace)
    const [stored] = (await reads.storedIds([runId])) as [string]
    const run = await reads.run(stored)
    if (!run && (await reads.isErased(stored))) throw new EngineError('conflict', `Run ${runId} was erased.`)
    if (run && (run.workflow !== name || run.app !== app)) {
      throw new EngineError('conflict', `Run ${runId} is one of workflow ${run.workflow} of app ${run.app}.`)
    }
    return run
  }

  /** Undefined: another request took the id. */
  async #create({ namespace, trace }: Actor, wanted: StartRequest): Promise<RunView | undefined> {
    const { store, catalog, announcer, clock, ids, report, driver, assertActive } = this.#deps
    const { input, attributes, runId: givenId } = wanted
    const now = clock.now()
    const id = givenId === undefined ? ids.nextAt('run', now) : storedRunId({ namespace, givenId, at: now })
    const creation = driver.leaseAtCreation()
    try {
      const decided = await decideAndCommit<Decided>({
        store,
        namespace,
        catalog,
        decide: assumptions => {
          assertActive(namespace)
          const workflow = this.#known(namespace, wanted)
          const run = directRun({ workflow, id, now, input, attributes, trace, report })
          const view = catalog.view(namespace)
          const guards = [...catalogGuards(view, assumptions), ...registeredGuards(assumptions, workflow)]
          if (givenId !== undefined) guards.push({ type: 'givenId', namespace, givenId })
          const created = { run, changes: [{ type: 'run.created', run }] } as const
          const unit = startAlone(created, { workflow, assumptions, catalog: view, now, report })
          return { ...unit, guards: [...guards, ...unit.guards], run }
        },
        questions: ({ questions }) => questions,
        unit: ({ guards, changes }) => {
          creation.lease(changes)
          return { guards, changes }
        },
        onStale: () => false,
      })
      if (!decided) return undefined
      announcer.announce(decided.changes)
      const { run } = decided
      // As it was created: its first pass may change it at any moment.
      const created = { ...run }
      creation.start()
      return created
    } finally {
      creation.release()
    }
  }
}

function isAlreadyRunning(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'already_running'
}

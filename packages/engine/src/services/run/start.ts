// Starts runs of a workflow directly, without an event (docs/concepts.md#start-a-workflow-directly). If the caller gives an id,
// a repeat starts nothing and returns the first run. Called by the HTTP routes.

import type { LiveKey } from '../../domain/arrival/live/live-runs.ts'
import { claimKey, keyTaken } from '../../domain/arrival/live/start-key.ts'
import { startAlone } from '../../domain/arrival/singleton.ts'
import type { Attributes } from '../../domain/model/attributes.ts'
import type { UnitWithQuestions } from '../../domain/model/decision.ts'
import { EngineError, invariant } from '../../domain/model/errors.ts'
import type { StartKey } from '../../domain/model/flow-control.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Workflow } from '../../domain/model/workflow.ts'
import { validateInput } from '../../domain/registry/input-schema.ts'
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
import { KeyMutex } from '../support/key-mutex.ts'

export interface StartRequest {
  app: string
  name: string
  input?: JsonText
  /** The id for the new run. */
  runId?: string
  attributes?: Attributes
  startKey?: StartKey
}

export interface Started {
  run: RunView
  /** The run existed already, by its id or its key, and nothing was started. */
  isRepeat: boolean
}

/** The effect that a start would have now. */
export interface StartPreview {
  workflow: Workflow
  /** The run that already has the id, or the live run with the key. */
  run: RunView | undefined
  policies: StartPolicies
  /** The live run for which a singleton, or the key, would refuse the start. */
  liveRunId: string | undefined
}

export interface StartsDeps
  extends Pick<Core, 'store' | 'catalog' | 'namespaces' | 'announcer' | 'clock' | 'ids' | 'report'> {
  driver: Pick<Driver, 'leaseAtCreation'>
}

interface Decided extends UnitWithQuestions {
  run: Run
}

/** The new run, or that the id is taken, or the live run that has the key or the singleton. */
type Created = RunView | 'id taken' | { liveRunId: string }

export class Starts {
  readonly #deps: StartsDeps
  /** Starts that cancel the live run with their key take turns: each would make the others on this engine decide again. */
  readonly #keys = new KeyMutex()

  constructor(deps: StartsDeps) {
    this.#deps = deps
  }

  /**
   * @throws EngineError `invalid_request` for input that the workflow's schema refuses, `not_found`, `conflict` for an id that
   * another workflow's run or an erased run has, `namespace_suspended`, `already_running` for a singleton or a key.
   */
  async start(actor: Actor, wanted: StartRequest): Promise<Started> {
    const { namespace } = actor
    validateInput(await this.#workflow(namespace, wanted), wanted.input)
    // The guard of the creation finds a run whose id a caller gave. The id is looked up first if an engine may have made it, or
    // if there is a key.
    const isLookedUp = wanted.startKey !== undefined || hasEngineForm(wanted.runId)
    const earlier = isLookedUp ? await this.#earlier(namespace, wanted) : undefined
    if (earlier) return { run: earlier, isRepeat: true }
    for (;;) {
      const created = await this.#create(actor, wanted).catch(async (error: unknown) => {
        // The live run of the singleton or the key may be the one with this id.
        if (!isAlreadyRunning(error) || !(await this.#earlier(namespace, wanted))) throw error
        return 'id taken' as const
      })
      if (typeof created === 'object' && 'id' in created) return { run: created, isRepeat: false }
      const first =
        (await this.#earlier(namespace, wanted)) ??
        (created === 'id taken' ? undefined : await this.#live(namespace, created))
      invariant(first || created !== 'id taken', 'another start took the id')
      // If the live run is gone, it has ended and was erased since: the key is free.
      if (first) return { run: first, isRepeat: true }
    }
  }

  #live(namespace: string, { liveRunId }: { liveRunId: string }): Promise<RunView | undefined> {
    return this.#deps.store.in(namespace).run(liveRunId)
  }

  /** Decides like `start`, and stores nothing. */
  async preview({ namespace }: Actor, wanted: StartRequest): Promise<StartPreview> {
    const workflow = await this.#workflow(namespace, wanted)
    validateInput(workflow, wanted.input)
    const run = await this.#earlier(namespace, wanted)
    const policies = await decideInTurns(namespace, () => describeStart(workflow, wanted.input))
    const { key, ifRunning } = wanted.startKey ?? {}
    const [withKey] = key === undefined ? [] : await this.#liveRuns(workflow, { type: 'started', key })
    if (run || withKey === undefined)
      return { workflow, run, policies, liveRunId: await this.#liveRunId(workflow, policies) }
    if (ifRunning === 'use')
      return { workflow, run: await this.#live(namespace, { liveRunId: withKey }), policies, liveRunId: undefined }
    const liveRunId = ifRunning === 'refuse' ? withKey : await this.#liveRunId(workflow, policies, withKey)
    return { workflow, run, policies, liveRunId }
  }

  /** The live run for which a singleton would refuse the start, if the start cancels the run `cancelled`. */
  async #liveRunId(workflow: Workflow, { singleton }: StartPolicies, cancelled?: string): Promise<string | undefined> {
    if (!singleton || singleton.mode === 'cancel' || singleton.key === undefined) return undefined
    const type = singleton.mode === 'deliver' ? 'unended' : 'live'
    const live = await this.#liveRuns(workflow, { type, key: singleton.key })
    return live.find(id => id !== cancelled)
  }

  #liveRuns({ namespace, app, name }: Workflow, of: Pick<LiveKey, 'type' | 'key'>): Promise<string[]> {
    return this.#deps.store.liveRuns({ ...of, namespace, app, workflow: name })
  }

  async #workflow(namespace: string, wanted: StartRequest): Promise<Workflow> {
    const { catalog, namespaces } = this.#deps
    namespaces.assertActive(namespace)
    // Another engine may have registered it a moment ago.
    if (!catalog.view(namespace).workflow(wanted.app, wanted.name)) await catalog.refresh()
    return this.#known(namespace, wanted)
  }

  #known(namespace: string, { app, name }: StartRequest): Workflow {
    const workflow = this.#deps.catalog.view(namespace).workflow(app, name)
    if (!workflow) throw new EngineError('not_found', `There is no workflow ${name} of app ${app}.`)
    return workflow
  }

  /** The existing run with the id. */
  async #earlier(namespace: string, { app, name, runId }: StartRequest): Promise<RunView | undefined> {
    if (runId === undefined) return undefined
    const reads = this.#deps.store.in(namespace)
    const [stored] = (await reads.storedIds([runId])) as [string]
    const run = await reads.run(stored)
    if (!run && (await reads.isErased(stored))) throw new EngineError('conflict', `Run ${runId} was erased.`)
    if (run && (run.workflow !== name || run.app !== app)) {
      throw new EngineError('conflict', `Run ${runId} belongs to workflow ${run.workflow} of app ${run.app}.`)
    }
    return run
  }

  async #create(actor: Actor, wanted: StartRequest): Promise<Created> {
    const { app, name: workflow, startKey } = wanted
    if (!startKey) return this.#commit(actor, wanted)
    const of = { namespace: actor.namespace, app, workflow }
    if (startKey.ifRunning === 'cancel') {
      const release = await this.#keys.acquire(JSON.stringify([of.namespace, app, workflow, startKey.key]))
      return this.#commit(actor, wanted).finally(release)
    }
    const [liveRunId] = await this.#deps.store.liveRuns({ type: 'started', ...of, key: startKey.key })
    return liveRunId === undefined ? this.#commit(actor, wanted) : heldBy(liveRunId, startKey, of)
  }

  async #commit({ namespace, trace }: Actor, wanted: StartRequest): Promise<Created> {
    const { store, catalog, announcer, clock, ids, report, driver, namespaces } = this.#deps
    const { input, attributes, runId: givenId, startKey } = wanted
    const now = clock.now()
    const id = givenId === undefined ? ids.nextAt('run', now) : storedRunId({ namespace, givenId, at: now })
    const creation = driver.leaseAtCreation()
    let held: Created = 'id taken'
    try {
      const decided = await decideAndCommit<Decided>({
        store,
        namespace,
        catalog,
        decide: assumptions => {
          namespaces.assertActive(namespace)
          const workflow = this.#known(namespace, wanted)
          const view = catalog.view(namespace)
          const of = { namespace, app: workflow.app, workflow: workflow.name }
          const facts = { assumptions, catalog: view, now }
          const claim = startKey && claimKey(of, startKey, { ...facts, drafted: { changes: [] }, cancelled: new Set() })
          if (startKey && claim?.liveRunId !== undefined) {
            held = heldBy(claim.liveRunId, startKey, of)
            return undefined
          }
          const run = directRun({ workflow, id, now, input, attributes, trace, startKey: startKey?.key, report })
          const guards = [...catalogGuards(view, assumptions), ...registeredGuards(assumptions, workflow)]
          if (givenId !== undefined) guards.push({ type: 'givenId', namespace, givenId })
          const created = { run, changes: [{ type: 'run.created', run }] } as const
          const unit = startAlone(created, { ...facts, workflow, report }, claim)
          return { ...unit, guards: [...guards, ...unit.guards], run }
        },
        unit: ({ guards, changes }) => {
          creation.lease(changes)
          return { guards, changes }
        },
        onStale: () => false,
      })
      if (!decided) return held
      announcer.announce(decided.changes)
      const { run } = decided
      // The run as it was created: its first pass may change it at any moment.
      const created = { ...run }
      creation.start()
      return created
    } finally {
      creation.release()
    }
  }
}

/** The result of a start whose key a live run has. @throws EngineError `already_running`. */
function heldBy(liveRunId: string, { key, ifRunning }: StartKey, of: { app: string; workflow: string }): Created {
  if (ifRunning === 'use') return { liveRunId }
  throw keyTaken(of, key, liveRunId)
}

function isAlreadyRunning(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'already_running'
}

// Decides the deletion of workflows and apps (docs/operating.md#deleting-workflows-and-apps), and how it changes a runner that
// had served them. Called by services/registry/deletion, the catalog and registrations.

import type { Change, Unit } from '../model/change.ts'
import { EngineError } from '../model/errors.ts'
import type { App, DeletedWorkflow, Runner, Workflow } from '../model/workflow.ts'

/** Maximum runners that a refusal names. */
const NAMED_RUNNERS_MAX = 3

/** The parts of the catalog that the decision reads. */
export interface DeletionView {
  readonly namespace: string
  readonly apps: ReadonlyMap<string, App>
  workflow(app: string, name: string): Workflow | undefined
  workflows(): readonly Workflow[]
  runners(app: string): readonly Runner[]
}

export interface DeletionOptions {
  view: DeletionView
  isLive(runner: Runner): boolean
  /** Live runners lose their claim, and do not prevent the deletion. */
  isForced: boolean
}

/** @throws EngineError `not_found`, or `conflict` while a live runner serves it. Runs in flight make the guard fail. */
export function deletedWorkflow({ app, name }: Pick<Workflow, 'app' | 'name'>, options: DeletionOptions): Unit {
  const { view, isLive, isForced } = options
  const { namespace } = view
  if (!view.workflow(app, name)) throw new EngineError('not_found', `There is no workflow ${name} of app ${app}.`)
  const serving = view.runners(app).filter(runner => runner.workflows.includes(name) && isLive(runner))
  if (serving.length > 0 && !isForced) throw served(serving)
  return {
    guards: [{ type: 'idle', namespace, app, workflow: name }],
    changes: [
      { type: 'workflow.deleted', namespace, app, name },
      ...serving.map(runner => withDeleted(runner, new Set([name]))),
    ],
  }
}

/**
 * Deletes every workflow of the app, and its runners. A live runner stays with its claims dropped, so that its heartbeat does
 * not bring the app back.
 * @throws EngineError `not_found`, or `conflict` while a runner of the app is live. Runs in flight make the guard fail.
 */
export function deletedApp(app: string, options: DeletionOptions): Unit {
  const { view, isLive, isForced } = options
  const { namespace } = view
  if (!view.apps.has(app)) throw new EngineError('not_found', `There is no app ${app}.`)
  const runners = view.runners(app)
  const live = new Set(runners.filter(isLive))
  if (live.size > 0 && !isForced) throw served([...live])
  const names = view.workflows().flatMap(workflow => (workflow.app === app ? workflow.name : []))
  return {
    guards: [{ type: 'idle', namespace, app }],
    changes: [
      ...names.map((name): Change => ({ type: 'workflow.deleted', namespace, app, name })),
      ...runners.map(
        (runner): Change =>
          live.has(runner)
            ? withDeleted(runner, new Set(runner.workflows))
            : { type: 'runner.forgotten', namespace, app, runnerId: runner.runnerId },
      ),
      { type: 'app.deleted', namespace, app },
    ],
  }
}

/** The runner without its claims on deleted workflows whose definition has not changed since the deletion. */
export function withoutDeleted(runner: Runner): Runner {
  const { deletedWorkflows, workflows, definitions = [] } = runner
  if (!deletedWorkflows) return runner
  const kept = workflows.map((name, i) => !isDeleted(deletedWorkflows, { name, digest: definitions[i]?.digest }))
  if (!kept.includes(false)) return runner
  return {
    ...runner,
    workflows: workflows.filter((_, i) => kept[i]),
    definitions: definitions.filter((_, i) => kept[i]),
  }
}

/** The deleted workflows that a registration of the runner still claims with the same definition; undefined if there are none. */
export function stillDeleted(
  { workflows, definitions }: Runner,
  earlier: Runner | undefined,
): Runner['deletedWorkflows'] {
  const deleted = earlier?.deletedWorkflows
  if (!deleted) return undefined
  const claimed = workflows.flatMap((name, i) => {
    const claim = { name, digest: definitions?.[i]?.digest ?? '' }
    return isDeleted(deleted, claim) ? claim : []
  })
  return claimed.length === 0 ? undefined : claimed
}

function isDeleted(deleted: readonly DeletedWorkflow[], claim: Partial<DeletedWorkflow>): boolean {
  return deleted.some(({ name, digest }) => name === claim.name && digest === claim.digest)
}

function withDeleted(runner: Runner, names: ReadonlySet<string>): Change {
  const { namespace, app, runnerId, workflows, definitions = [], deletedWorkflows = [] } = runner
  const added = workflows.flatMap((name, i) => (names.has(name) ? { name, digest: definitions[i]?.digest ?? '' } : []))
  const earlier = deletedWorkflows.filter(({ name }) => !names.has(name))
  const change = { namespace, app, runnerId, deletedWorkflows: [...earlier, ...added] }
  return { type: 'runner.workflowsDeleted', ...change }
}

function served(runners: readonly Runner[]): EngineError {
  const ids = runners.map(({ runnerId }) => runnerId)
  const named = ids.slice(0, NAMED_RUNNERS_MAX).join(', ')
  const more = ids.length > NAMED_RUNNERS_MAX ? ` and ${ids.length - NAMED_RUNNERS_MAX} more` : ''
  return new EngineError('conflict', `live runners serve it (${named}${more}): stop them, or send force=1`)
}

// Starts the child of a step (docs/concepts.md#children). Called by the opcode of the step, and again while the step waits for
// its workflow (waiting-starts.ts).

import { nearestNames, type StepError } from '@perdure/protocol'
import type { FilterFault } from '../../expressions/matching.ts'
import { chainFault, chainTooLong, LONG_CHAIN, nextGeneration } from '../../holds/generations.ts'
import { heldByAncestors } from '../../holds/kept-slots.ts'
import { presentConcurrency } from '../../holds/operator-limits.ts'
import type { CatalogView } from '../../model/catalog.ts'
import type { Run } from '../../model/run.ts'
import type { ChildStart, Step } from '../../model/step.ts'
import type { Workflow } from '../../model/workflow.ts'
import { type Assumptions, catalogGuards, registeredGuards } from '../../run/assumptions.ts'
import { childRun, type Under } from '../../run/create.ts'
import type { Draft } from '../../run/draft.ts'
import { addStart, emptyClaim, type LiveClaim } from '../live/live-runs.ts'
import { alreadyRunningText, claimSingleton } from '../singleton.ts'

export interface ChildContext {
  catalog: CatalogView
  assumptions: Assumptions
  report(fault: FilterFault | ReturnType<typeof chainFault>): void
}

export type Wanted = Omit<ChildStart, 'until'>

/** `childRunId`: the child is drafted. `error`: there will be no child. `unknown`: no app has its workflow. */
export type StartedChild = { childRunId: string } | { error: StepError } | 'unknown'

/** Drafts the child of a step. */
export function startChild(
  draft: Draft,
  { step, wanted }: { step: Pick<Step, 'id' | 'index'>; wanted: Wanted },
  context: ChildContext,
): StartedChild {
  const found = startable(draft, wanted, context)
  if (found === 'unknown' || 'error' in found) return found
  const { workflow } = found
  const { now } = draft
  const under = { workflow, report: context.report }
  const child = childRun({
    parent: draft.run,
    step,
    app: workflow.app,
    workflow: workflow.name,
    input: wanted.input,
    priority: wanted.priority,
    now,
    under,
  })
  // If an operator has lowered the limit, it holds the child until the operator raises it again.
  const held =
    heldByAncestors(child, workflow.flowControl?.concurrency) && heldByAncestors(child, presentConcurrency(workflow))
  if (held) return { error: held }
  const refused = draftStart(draft, child, { under }, context)
  return refused ? { error: refused } : { childRunId: child.id }
}

/** The workflow that a step of the run may start. */
export function startable(
  draft: Draft,
  wanted: Wanted,
  { catalog, assumptions, report }: ChildContext,
): { workflow: Workflow } | { error: StepError } | 'unknown' {
  draft.guards.push(...catalogGuards(catalog, assumptions))
  const app = startApp(draft.run.app, wanted, catalog)
  if (app === undefined) return 'unknown'
  if (typeof app !== 'string') return { error: app }
  const { generationsMax } = catalog
  const generation = nextGeneration(draft.run)
  if (generation >= LONG_CHAIN) report(chainFault(draft.run))
  if (generation > generationsMax) {
    const what = `Workflow "${wanted.workflow}" of app "${app}" was not started`
    return { error: chainTooLong(what, generationsMax) }
  }
  const workflow = catalog.workflow(app, wanted.workflow)
  if (!workflow) return 'unknown'
  draft.guards.push(...registeredGuards(assumptions, workflow))
  return { workflow }
}

/** Drafts the creation of a run with the claim of its key, unless the singleton of its workflow refuses it. */
export function draftStart(
  draft: Draft,
  run: Run,
  { under, byKey = emptyClaim() }: { under: Under; byKey?: LiveClaim },
  { catalog, assumptions }: ChildContext,
): StepError | undefined {
  const self = byKey.cancelsSelf ? { ...draft.run, cancelRequested: true } : draft.run
  const drafted = { changes: [...draft.changes, ...byKey.changes], self }
  const claimed = claimSingleton(run, { ...under, catalog, now: draft.now, drafted, assumptions })
  draft.guards.push(...claimed.guards)
  draft.questions.push(...claimed.questions)
  if (claimed.liveRunId !== undefined) return alreadyRunningError(alreadyRunningText(run, claimed.liveRunId))
  addStart(draft.changes, byKey, [])
  addStart(draft.changes, claimed, [])
  if (claimed.cancelsSelf || byKey.cancelsSelf) draft.set({ cancelRequested: true })
  draft.changes.push({ type: 'run.created', run })
  return undefined
}

/** The error of a step that starts nothing because a run of the workflow is live. */
export function alreadyRunningError(message: string): StepError {
  return { name: 'AlreadyRunningError', message, code: 'already_running' }
}

/** The error of a step whose workflow no app has. */
export function notRegistered({ workflow, app, direct }: Wanted, catalog: CatalogView): StepError {
  const nearest = nearestNames(workflow, catalog.workflowNames()).map(name => `"${name}"`)
  const meant = nearest.length === 0 ? '' : ` Did you mean ${nearest.join(' or ')}?`
  const whose = app === undefined ? 'No app' : `App "${app}"`
  const has = app === undefined ? 'has a' : 'has no'
  return { name: notStarted(direct), message: `${whose} ${has} workflow "${workflow}".${meant}` }
}

/**
 * The requested app, else the parent's app if it has the workflow, else the only other app that has it; undefined if none has.
 */
function startApp(
  parentApp: string,
  { workflow, app, direct }: Wanted,
  catalog: CatalogView,
): string | StepError | undefined {
  const apps = catalog.appsWith(workflow)
  const wanted = app ?? (apps.includes(parentApp) ? parentApp : undefined)
  if (wanted !== undefined) return apps.includes(wanted) ? wanted : undefined
  if (apps.length < 2) return apps[0]
  const message = `Several apps have a workflow "${workflow}" (${apps.join(', ')}): name one.`
  return { name: notStarted(direct), message }
}

const notStarted = (direct: Wanted['direct']) => (direct ? 'RunNotStartedError' : 'ChildNotStartedError')

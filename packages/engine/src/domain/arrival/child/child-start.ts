// Starts the child of a step (docs/concepts.md#children). While no app has its workflow the step waits, with a grace: a deploy may
// register it in a moment. Called by the opcode of the step, and at each lease of a run with such a step.

import { nearestNames, type StepError } from '@perdure/protocol'
import type { FilterFault } from '../../expressions/matching.ts'
import { chainFault, chainTooLong, LONG_CHAIN, nextGeneration } from '../../holds/generations.ts'
import { heldByAncestors } from '../../holds/kept-slots.ts'
import type { CatalogView } from '../../model/catalog.ts'
import { type ChildStart, isSettled, type Step } from '../../model/step.ts'
import { type Assumptions, catalogGuards, registeredGuards } from '../../run/assumptions.ts'
import { childRun } from '../../run/create.ts'
import type { Draft } from '../../run/draft.ts'
import { isDue } from '../../run/state.ts'
import { addStart } from '../live/live-runs.ts'
import { alreadyRunningText, claimSingleton } from '../singleton.ts'

export interface ChildContext {
  catalog: CatalogView
  assumptions: Assumptions
  report(fault: FilterFault | ReturnType<typeof chainFault>): void
}

type Wanted = Pick<ChildStart, 'workflow' | 'app' | 'input'>

/** `childRunId`: the child is drafted. `error`: there will be none. `unknown`: no app has its workflow. */
export type StartedChild = { childRunId: string } | { error: StepError } | 'unknown'

/** Drafts the child of a step. */
export function startChild(
  draft: Draft,
  { step, wanted }: { step: Pick<Step, 'id' | 'index'>; wanted: Wanted },
  { catalog, assumptions, report }: ChildContext,
): StartedChild {
  draft.guards.push(...catalogGuards(catalog, assumptions))
  const app = childApp(draft.run.app, wanted, catalog)
  if (app === undefined) return 'unknown'
  if (typeof app !== 'string') return { error: app }
  const { now } = draft
  const { generationsMax } = catalog
  const generation = nextGeneration(draft.run)
  if (generation >= LONG_CHAIN) report(chainFault(draft.run))
  if (generation > generationsMax) {
    const what = `Workflow "${wanted.workflow}" of app "${app}" was not started`
    return { error: chainTooLong(what, generationsMax) }
  }
  const workflow = catalog.workflow(app, wanted.workflow)
  if (workflow) draft.guards.push(...registeredGuards(assumptions, workflow))
  const under = { workflow, report }
  const child = childRun({ parent: draft.run, step, app, workflow: wanted.workflow, input: wanted.input, now, under })
  const held = heldByAncestors(child, workflow?.flowControl?.concurrency)
  if (held) return { error: held }
  const drafted = { changes: draft.changes, self: draft.run }
  const claimed = claimSingleton(child, { ...under, catalog, now, drafted, assumptions })
  draft.guards.push(...claimed.guards)
  draft.questions.push(...claimed.questions)
  if (claimed.liveRunId !== undefined) {
    const message = alreadyRunningText(child, claimed.liveRunId)
    return { error: { name: 'AlreadyRunningError', message, code: 'already_running' } }
  }
  addStart(draft.changes, claimed, [])
  if (claimed.cancelsSelf) draft.set({ cancelRequested: true })
  draft.changes.push({ type: 'run.created', run: child })
  return { childRunId: child.id }
}

/** Starts the children of steps whose workflow has been registered. Steps whose grace is over fail. */
export function startWaitingChildren(draft: Draft, context: ChildContext): void {
  for (const step of [...draft.open.values()]) {
    const { childStart } = step
    if (!childStart) continue
    const started = startChild(draft, { step, wanted: childStart }, context)
    if (started === 'unknown' && draft.now < childStart.until) continue
    const error =
      started === 'unknown'
        ? notRegistered(childStart, context.catalog)
        : 'error' in started
          ? started.error
          : undefined
    if (error) draft.moveStep(step, { status: 'failed', finishedAt: draft.now, error, childStart: undefined })
    else if (started !== 'unknown' && 'childRunId' in started)
      draft.moveStep(step, { childRunId: started.childRunId, childStart: undefined })
  }
}

/** Whether the run has nothing to do but to wait for the workflow of a child: no step has settled, and no retry is due. */
export function onlyWaitsForChildren({ steps, open, now }: Draft): boolean {
  return !steps.some(({ status }) => isSettled(status)) && ![...open.values()].some(step => isDue(step, now))
}

/** The error of a child whose workflow nobody has. */
export function notRegistered({ workflow, app }: Wanted, catalog: CatalogView): StepError {
  const nearest = nearestNames(workflow, catalog.workflowNames()).map(name => `"${name}"`)
  const meant = nearest.length === 0 ? '' : ` Did you mean ${nearest.join(' or ')}?`
  const whose = app === undefined ? 'No app' : `App "${app}"`
  const has = app === undefined ? 'has a' : 'has no'
  return { name: 'ChildNotStartedError', message: `${whose} ${has} workflow "${workflow}".${meant}` }
}

/** The app that is wanted, else the parent's app if it has the workflow, else the one other app that has it; undefined if none has. */
function childApp(parentApp: string, { workflow, app }: Wanted, catalog: CatalogView): string | StepError | undefined {
  const apps = catalog.appsWith(workflow)
  const wanted = app ?? (apps.includes(parentApp) ? parentApp : undefined)
  if (wanted !== undefined) return apps.includes(wanted) ? wanted : undefined
  if (apps.length < 2) return apps[0]
  const message = `Several apps have a workflow "${workflow}" (${apps.join(', ')}): name one.`
  return { name: 'ChildNotStartedError', message }
}

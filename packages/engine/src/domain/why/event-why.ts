// Explains what an event did at each workflow that has a trigger for its name, and why it started nothing there
// (docs/events.md#why-an-event-did-what-it-did). The explanation is the decision at the event's arrival, or the decision of a
// dry run now. The sentences are written only here; the command and the console print them. Called by services/event/why.

import type { DryRunReply, EventExplanation, EventVerdict } from '@perdure/protocol'
import { scopeOf } from '../arrival/fanout.ts'
import { POLICY_FLAGS } from '../arrival/policy.ts'
import { chainWarning } from '../holds/generations.ts'
import type { CatalogView } from '../model/catalog.ts'
import { type Event, isSameWorkflow, type StartEntry, type Triggered } from '../model/event.ts'
import type { Workflow } from '../model/workflow.ts'
import { shownRunId } from '../text/ids.ts'
import { signalOf } from '../text/name.ts'
import { timestamp } from '../text/timestamp.ts'
import { FALSE_FILTER, OTHER_VALUES } from './dry-run.ts'
import { nearestTo } from './nearest-names.ts'

/** A step that waited for the event. */
export interface WokenStep {
  runId: string
  stepName?: string | undefined
}

/** Explains a signal. It is only for its run, so today's catalog changes nothing. */
function whySignal(event: Event, runId: string, woken: readonly WokenStep[]): EventExplanation {
  const { id: eventId, name, source, receivedAt, woke } = event
  const run = shownRunId(runId)
  const sentence =
    woke > 0
      ? `The ${source} woke run ${run}, to which it was sent.`
      : `The ${source} was sent to run ${run} only, which was not waiting for it at that moment.`
  return {
    eventId,
    name: signalOf(name) ?? name,
    decidedAt: timestamp(receivedAt),
    now: false,
    sentence,
    woke,
    ...(woken.length === 0 ? {} : { woken: [...woken] }),
    workflows: [],
  }
}

/** The decision at the event's arrival. Workflows of today's catalog that were not considered at that time are added. */
export function whyAtArrival(event: Event, catalog: CatalogView, woken: readonly WokenStep[]): EventExplanation {
  if (event.runId !== undefined) return whySignal(event, event.runId, woken)
  const { decided = {}, triggered, woke, receivedAt } = event
  const verdicts = [...triggered.map(entry => ofEntry(entry)), ...(decided.unmet ?? []).map(ofUnmet)]
  const { left, suspended } = decided
  const warnings = [...(decided.warnings ?? []), chainWarning(event.generation, catalog.generationsMax)].filter(
    text => text !== undefined,
  )
  const others = notConsidered(event, catalog, verdicts).flatMap(({ name, app }) => {
    const scope = scopeOf(event, decided.targetApp)
    if (scope !== undefined && scope !== app) return [otherApp(name, app, scope)]
    if (isSameWorkflow({ name, app }, decided.notFor)) return [ownEnd(name, app)]
    if (suspended)
      return [{ workflow: name, app, outcome: 'suspended', sentence: 'The namespace was suspended.' } as const]
    // If reasons were left out, a workflow without an entry may still have had a trigger.
    return left === undefined ? [noTrigger(name, app)] : []
  })
  const workflows = [...verdicts, ...others].sort(byWorkflow)
  return {
    eventId: event.id,
    name: event.name,
    decidedAt: timestamp(receivedAt),
    now: false,
    sentence: sentenceOf({ event, catalog, workflows, woke, waited: decided.waited, left, isNow: false }),
    woke,
    ...(decided.waited === undefined ? {} : { waited: decided.waited }),
    ...(woken.length === 0 ? {} : { woken: [...woken] }),
    ...(suspended ? { suspended } : {}),
    workflows,
    ...nearestTo(event, catalog),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(left === undefined ? {} : { left }),
  }
}

/** The effect that the event would have now. */
export function whyNow(
  event: Event,
  catalog: CatalogView,
  { reply, at }: { reply: DryRunReply; at: number },
): EventExplanation {
  const verdicts = reply.workflows.map(ofDryRun)
  const others = notConsidered(event, catalog, verdicts).map(({ name, app }) => {
    const scope = scopeOf(event, event.decided?.targetApp)
    if (isSameWorkflow({ name, app }, event.decided?.notFor)) return ownEnd(name, app)
    return scope === undefined || scope === app
      ? ({ workflow: name, app, outcome: 'suspended', sentence: 'The namespace is suspended.' } as const)
      : otherApp(name, app, scope)
  })
  const workflows = [...verdicts, ...others].sort(byWorkflow)
  const { waiters: woke, waited, suspended, warnings } = reply
  return {
    eventId: event.id,
    name: event.name,
    decidedAt: timestamp(at),
    now: true,
    sentence: sentenceOf({ event, catalog, workflows, woke, waited, left: undefined, isNow: true }),
    woke,
    ...(waited === undefined ? {} : { waited }),
    ...(suspended ? { suspended } : {}),
    workflows,
    ...nearestTo(event, catalog),
    ...(warnings ? { warnings } : {}),
  }
}

/** Workflows of today's catalog with a trigger for the name, except those with a verdict. */
function notConsidered({ name }: Event, catalog: CatalogView, verdicts: readonly EventVerdict[]): Workflow[] {
  const known = new Set(verdicts.map(({ workflow, app }) => `${workflow}\n${app}`))
  return catalog.triggeredBy(name).filter(workflow => !known.has(`${workflow.name}\n${workflow.app}`))
}

function otherApp(workflow: string, app: string, scope: string): EventVerdict {
  const sentence = `The event was limited to app ${JSON.stringify(scope)}.`
  return { workflow, app, outcome: 'other-app', sentence }
}

function ownEnd(workflow: string, app: string): EventVerdict {
  const sentence = 'An event of this name started the run that has ended, so its end does not start the workflow again.'
  return { workflow, app, outcome: 'own-end', sentence }
}

function noTrigger(workflow: string, app: string): EventVerdict {
  const sentence = 'It has a trigger for this name today, but had none when the event arrived.'
  return { workflow, app, outcome: 'no-trigger', sentence }
}

function ofEntry(stored: Triggered): EventVerdict {
  const entry = { ...stored, ...shownIds(stored) }
  const { workflow, app, runId, liveRunId, repeatOf, isPaused } = entry
  const outcome = POLICY_FLAGS.find(flag => entry[flag]) ?? 'run'
  const facts = {
    ...(runId === undefined ? {} : { runId }),
    ...(isPaused ? { paused: true as const } : {}),
    ...(liveRunId === undefined ? {} : { liveRunId }),
    ...(repeatOf === undefined ? {} : { repeatOf }),
  }
  return { workflow, app, outcome, sentence: PAST[outcome](entry), ...facts }
}

function shownIds({ runId, liveRunId }: Triggered): Pick<Triggered, 'runId' | 'liveRunId'> {
  return {
    ...(runId === undefined ? {} : { runId: shownRunId(runId) }),
    ...(liveRunId === undefined ? {} : { liveRunId: shownRunId(liveRunId) }),
  }
}

type Outcome = NonNullable<DryRunReply['workflows'][number]['outcome']>

const PAST: Record<Outcome, (entry: Triggered) => string> = {
  run: ({ runId, isPaused }) =>
    `It started run ${runId}.${isPaused ? ' The workflow was paused, so the run waits until it is resumed.' : ''}`,
  deduped: ({ repeatOf }) => `Its idempotency key was used before${repeatOf ? `, by event ${repeatOf}` : ''}.`,
  dropped: () => 'Its rate limit dropped the event.',
  skipped: ({ liveRunId }) => `Its singleton skipped the event: run ${liveRunId} was live.`,
  delivered: ({ liveRunId }) => `Its singleton delivered the event to run ${liveRunId}, which was live.`,
  debounced: ({ runId }) =>
    runId === undefined
      ? 'It joined a burst that has not become a run.'
      : `It joined the burst that became run ${runId}.`,
  batched: ({ runId }) =>
    runId === undefined
      ? 'It joined a batch that has not become a run.'
      : `It joined the batch that became run ${runId}.`,
}

const PRESENT: Record<Outcome, string> = {
  run: 'It would start a run.',
  deduped: 'Its idempotency key was already used.',
  dropped: 'Its rate limit would drop the event.',
  skipped: 'Its singleton would skip the event: a run is live.',
  delivered: 'Its singleton would deliver the event to a live run.',
  debounced: 'It would join a burst.',
  batched: 'It would join a batch.',
}

function ofUnmet([workflow, app, event, condition, error]: StartEntry): EventVerdict {
  if (typeof condition !== 'string') return unmetMatch({ workflow, app }, { event, match: condition }, 'had')
  return unmet({ workflow, app }, { event, if: condition, error }, 'was')
}

function ofDryRun({
  workflow,
  app,
  trigger,
  matches,
  reason,
  outcome = 'run',
}: DryRunReply['workflows'][number]): EventVerdict {
  if (matches) return { workflow, app, outcome, sentence: PRESENT[outcome], trigger }
  if (reason === OTHER_VALUES) return unmetMatch({ workflow, app }, trigger, 'has')
  const error = reason === FALSE_FILTER ? undefined : reason
  return unmet({ workflow, app }, { ...trigger, error }, 'is')
}

function unmetMatch(
  of: { workflow: string; app: string },
  trigger: NonNullable<EventVerdict['trigger']>,
  verb: 'has' | 'had',
): EventVerdict {
  return {
    ...of,
    outcome: 'filter',
    sentence: `The event ${verb} values that differ from the trigger's match.`,
    trigger,
  }
}

function unmet(
  of: { workflow: string; app: string },
  { event, if: filter = '', error }: { event: string; if?: string | undefined; error?: string | undefined },
  verb: 'is' | 'was',
): EventVerdict {
  const can = verb === 'is' ? 'cannot' : 'could not'
  const sentence = error === undefined ? `Its filter ${verb} false.` : `Its filter ${can} be evaluated: ${error}`
  return {
    ...of,
    outcome: 'filter',
    sentence,
    trigger: { event, if: filter },
    ...(error === undefined ? {} : { error }),
  }
}

interface Answered {
  event: Event
  catalog: CatalogView
  workflows: readonly EventVerdict[]
  woke: number
  /** The number of runs that wait, or waited, for the name, if the event does not wake all of them. */
  waited: number | undefined
  /** Number of workflows whose reasons were not stored with the event. */
  left: number | undefined
  isNow: boolean
}

function sentenceOf(decided: Answered): string {
  const { workflows, woke, waited, left } = decided
  const unmet = waited === undefined || woke > 0 || workflows.length === 0 ? '' : ` ${unmetWaits(decided, waited)}`
  const lost = left === undefined ? '' : ` ${counted(left, 'more reason')} ${left === 1 ? 'was' : 'were'} not kept.`
  return effectSentence(decided) + unmet + lost
}

function effectSentence(decided: Answered): string {
  const { event, catalog, workflows, woke, waited, isNow } = decided
  const started = workflows.filter(({ outcome }) => outcome === 'run').length
  const joined = workflows.filter(({ outcome }) => outcome === 'debounced' || outcome === 'batched').length
  const effects = [
    started > 0 && `${isNow ? 'start' : 'started'} ${counted(started, 'run')}`,
    joined > 0 && `${isNow ? 'join' : 'joined'} ${counted(joined, 'buffer')}`,
    woke > 0 && `${isNow ? 'wake' : 'woke'} ${wokenRuns(decided)}`,
  ].filter(part => part !== false)
  const would = isNow ? 'would ' : ''
  if (effects.length > 0) return `The event ${would}${effects.join(' and ')}.`
  const nothing = `The event ${isNow ? 'would start' : 'started'} nothing: `
  if (workflows.length === 0 && waited !== undefined) return nothing + unmetWaits(decided, waited)
  if (workflows.length === 0) {
    const [nearest] = nearestTo(event, catalog).nearest ?? []
    const guess = nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`
    return `${nothing}no workflow has a trigger for ${JSON.stringify(event.name)}${guess || '.'}`
  }
  const [only] = workflows
  if (workflows.length === 1 && only) return `${nothing}${only.app}/${only.workflow}: ${only.sentence}`
  return `${nothing}${workflows.length} workflows have a trigger for its name, but each one has its own reason not to start.`
}

function wokenRuns({ woke, waited, isNow }: Answered): string {
  if (waited === undefined) return counted(woke, 'waiting run')
  return `${woke} of the ${waited} runs that ${isNow ? 'wait' : 'waited'} for its name`
}

function unmetWaits({ event, isNow }: Answered, waited: number): string {
  const wait = isNow ? (waited === 1 ? 'waits' : 'wait') : 'waited'
  const does = isNow ? 'does' : 'did'
  return `${counted(waited, 'run')} ${wait} for ${JSON.stringify(event.name)} with a condition that it ${does} not meet.`
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

function byWorkflow(a: EventVerdict, b: EventVerdict): number {
  const [one, other] = [`${a.workflow}\n${a.app}`, `${b.workflow}\n${b.app}`]
  return one < other ? -1 : one > other ? 1 : 0
}

// The why line: why a run is in its state, as a sentence with live times, and the one action that would end the wait.
// Pure; the view turns actions into links and buttons.

import type { RunExplanation, RunSummary } from '@perdure/protocol'
import { durationText } from '../../ui/duration.ts'
import { clockText } from '../../ui/time.ts'
import { shortName } from '../../ui/visible-text.ts'

/** The action that would end the wait. */
export type WhyAction =
  | { kind: 'send-event'; name: string; app: string }
  | { kind: 'open-run'; runId: string; label: string }
  | { kind: 'runners'; app: string }
  | { kind: 'limits'; workflow: string }
  | { kind: 'workflow'; app: string; workflow: string }
  | { kind: 'resume' }
  | { kind: 'retry-from'; stepName: string }
  | { kind: 'show-step'; stepName: string; label: string }

/** A page about something that the sentence names. */
export type WhyLink = { kind: 'events'; name: string } | { kind: 'runners'; app: string }

export interface WhyLine {
  sentence: string
  /** The message of an error in the sentence. */
  said?: string
  action?: WhyAction
  link?: WhyLink
  /** How the limit that holds the run is raised. */
  how?: string
}

/** The line for a run. `nowMs` is the engine's time. */
export function whyLine(run: RunSummary, why: RunExplanation, nowMs: number): WhyLine {
  const since = Date.parse(why.since)
  const lasting = `for ${durationText(Math.max(nowMs - since, 0))}`
  switch (why.status) {
    case 'queued':
      return queuedLine(run, why, { nowMs, lasting })
    case 'running':
      return runningLine(run, why, { nowMs, lasting })
    case 'waiting':
      return waitingLine(run, why, { nowMs, lasting })
    case 'paused':
      return pausedLine(why, lasting)
    case 'succeeded':
      return { sentence: `It succeeded${tookText(run)}.` }
    case 'failed':
      return failedLine(run, why)
    case 'cancelled':
      return { sentence: `It was cancelled${run.startedAt === undefined ? ' before it started' : tookText(run)}.` }
  }
}

const tookText = ({ durationMs }: RunSummary) => (durationMs === undefined ? '' : ` after ${durationText(durationMs)}`)
const quoted = (name: string) => `“${shortName(name)}”`

function queuedLine(run: RunSummary, why: RunExplanation, { nowMs, lasting }: Times): WhyLine {
  const { waitingFor, position, runners, missing } = why
  const key = waitingFor?.key === undefined || waitingFor.key === '' ? '' : ` of key ${quoted(waitingFor.key)}`
  const before = position === undefined ? '' : position === 0 ? ', next in line' : `, ${position} before it`
  if (waitingFor?.kind === 'concurrency')
    return {
      sentence: `Held ${lasting} until a slot${key} is free${before}.`,
      action: { kind: 'limits', workflow: run.workflow },
      how: howToRaise('concurrency', 'It starts when a run that holds a slot ends or is cancelled.'),
    }
  if (waitingFor?.kind === 'throttle')
    return {
      // Only the first run in line has an instant.
      sentence: `Held ${lasting} by its throttle${key}${before}${untilOf(why, nowMs)}.`,
      action: { kind: 'limits', workflow: run.workflow },
      how: howToRaise('throttle', 'It starts when its turn comes.'),
    }
  if (waitingFor?.kind === 'workflow-paused')
    return {
      sentence: `Held ${lasting}: workflow ${quoted(run.workflow)} is paused, and starts nothing until it is resumed.`,
      action: { kind: 'workflow', app: run.app, workflow: run.workflow },
    }
  if (missing)
    return {
      sentence: `No live runner of app ${quoted(missing.app)} serves ${quoted(missing.workflow)}. Queued ${lasting}; it starts as soon as one registers.`,
      action: { kind: 'runners', app: run.app },
    }
  if (waitingFor?.kind === 'runner')
    return {
      sentence: `Waits ${lasting} for room on a runner: ${runners?.live ?? 0} live, none can take more at once.`,
      action: { kind: 'runners', app: run.app },
    }
  return { sentence: `Queued ${lasting}; the engine takes it up as soon as it has room.` }
}

/** A run keeps the limits that its workflow had when it was created. */
const howToRaise = (policy: string, forThisRun: string) =>
  `The limit is “${policy}” in the code of the workflow. Raise it there and start the runner again: runs that are created from then on have the new one. This run keeps its own. ${forThisRun}`

interface Times {
  nowMs: number
  lasting: string
}

function runningLine(
  { app, currentStepName }: RunSummary,
  { runner, passSince }: RunExplanation,
  { nowMs, lasting }: Times,
): WhyLine {
  if (passSince === undefined) return { sentence: `Running ${lasting}.` }
  const pass = durationText(Math.max(nowMs - Date.parse(passSince), 0))
  const step = currentStepName === undefined ? '' : `, and runs step ${quoted(currentStepName)}`
  return {
    sentence: `Runner ${quoted(runner ?? '')} has had the current pass for ${pass}${step}.`,
    link: { kind: 'runners', app },
  }
}

const untilOf = ({ wakeAt }: RunExplanation, nowMs: number) =>
  wakeAt === undefined ? '' : `, until ${untilText(Date.parse(wakeAt), nowMs)}`

function waitingLine(run: RunSummary, why: RunExplanation, { nowMs, lasting }: Times): WhyLine {
  const { waitingFor, event, children } = why
  const step = waitingFor?.stepName === undefined ? 'It' : `Step ${quoted(waitingFor.stepName)}`
  const until = untilOf(why, nowMs)
  switch (waitingFor?.kind) {
    case 'sleep':
      return { sentence: `${step} sleeps ${lasting}${until}.` }
    case 'event': {
      const name = event?.name ?? waitingFor.eventName ?? ''
      const filter = event?.if === undefined ? '' : ` where ${shortName(event.if, 160)}`
      return {
        sentence: `${step} waits ${lasting} for event ${quoted(name)}${filter}${until}.`,
        action: { kind: 'send-event', name, app: run.app },
        link: { kind: 'events', name },
      }
    }
    case 'child': {
      const child = children?.[0]
      const more = (children?.length ?? 0) > 1 ? ` and ${(children?.length ?? 0) - 1} more` : ''
      const sentence = `${step} waits ${lasting} for child run ${waitingFor.childRunId ?? ''}${child ? `, which is ${child.status}` : ''}${more}.`
      return waitingFor.childRunId === undefined
        ? { sentence }
        : { sentence, action: { kind: 'open-run', runId: waitingFor.childRunId, label: 'Open child' } }
    }
    case 'retry':
      return retryLine(why, step, nowMs)
    default:
      return { sentence: why.sentence }
  }
}

function retryLine({ waitingFor, wakeAt, error }: RunExplanation, step: string, nowMs: number): WhyLine {
  const again = wakeAt === undefined ? 'soon' : untilText(Date.parse(wakeAt), nowMs)
  const reason = waitingFor?.error ?? error?.message
  const said = shortName(reason ?? '', 200)
  const itSaid = said === '' ? '' : ` It said: ${said}`
  if (waitingFor?.stepName === undefined)
    return { sentence: `The last pass failed and is repeated ${again}.${itSaid}`, said }
  const { attempt, maxAttempts } = waitingFor
  const tries = maxAttempts === undefined ? '' : ` (attempt ${attempt} of ${maxAttempts})`
  return {
    sentence: `${step} failed${tries} and is tried again ${again}.${itSaid}`,
    said,
    action: { kind: 'show-step', stepName: waitingFor.stepName, label: 'Show the error' },
  }
}

function pausedLine({ waitingFor, error }: RunExplanation, lasting: string): WhyLine {
  const reason = waitingFor?.kind === 'failure' ? (waitingFor.error ?? error?.message) : undefined
  const said = shortName(reason ?? '', 200)
  const because = said === '' ? '' : ` because its tries were spent: ${said}`
  return { sentence: `Paused ${lasting}${because}. Timers and events still settle.`, said, action: { kind: 'resume' } }
}

function failedLine(run: RunSummary, { error }: RunExplanation): WhyLine {
  const failure = error ?? run.error
  if (!failure) return { sentence: `It failed${tookText(run)}.` }
  const { stepName, message } = failure
  const where = stepName === undefined ? '' : ` in step ${quoted(stepName)}`
  const said = shortName(message, 300)
  return {
    sentence: `It failed${tookText(run)}${where}: ${said}`,
    said,
    ...(stepName === undefined ? {} : { action: { kind: 'retry-from', stepName } }),
  }
}

/** `14:05:01, in 22 min`. */
function untilText(atMs: number, nowMs: number): string {
  const away = atMs - nowMs
  return away <= 0 ? `${clockText(atMs, nowMs)}, now` : `${clockText(atMs, nowMs)}, in ${durationText(away)}`
}

// Adds to the engine's sentence about a run: times in the reader's zone, the one action that would end the wait, and links. Pure;
// the view turns actions into links and buttons.

import type { RunExplanation } from '@perdure/protocol'
import { agoText, clockText } from '../../ui/time.ts'

export interface SentencePart {
  text: string
  /** Others wrote it: its writing direction must not change the order of the words around it. */
  isOfOthers: boolean
}

/** Returns the engine's sentence, with its times in the reader's zone. `nowMs` is the engine's time. */
export function sentenceParts({ sentence, waitingFor, error }: RunExplanation, nowMs: number): SentencePart[] {
  const message = waitingFor?.error ?? error?.message
  const before = message ? sentence.indexOf(`: ${message}`) : -1
  const parts =
    message && before >= 0
      ? [
          ...quotedParts(sentence.slice(0, before + 2)),
          { text: message, isOfOthers: true },
          ...quotedParts(sentence.slice(before + 2 + message.length)),
        ]
      : quotedParts(sentence)
  return parts.map(part => (part.isOfOthers ? part : { ...part, text: withLocalTimes(part.text, nowMs) }))
}

/** The same as one text. */
export const sentenceText = (why: RunExplanation, nowMs: number): string =>
  sentenceParts(why, nowMs)
    .map(({ text }) => text)
    .join('')

/** Splits the sentence at quotes: others wrote the quoted text. */
function quotedParts(sentence: string): SentencePart[] {
  return sentence
    .split(/"([^"]*)"/)
    .map((text, i, all) => {
      if (i % 2 === 1) return { text, isOfOthers: true }
      return { text: `${i === 0 ? '' : '"'}${text}${i === all.length - 1 ? '' : '"'}`, isOfOthers: false }
    })
    .filter(({ text }) => text !== '')
}

/** `14:05:01 (in 22 min)` for each timestamp. */
const withLocalTimes = (text: string, nowMs: number) =>
  text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, timestamp => {
    const atMs = Date.parse(timestamp)
    return `${clockText(atMs, nowMs)} (${agoText(atMs, nowMs)})`
  })

/** The action that would end the wait. */
export type WhyAction =
  | { kind: 'send-event'; name: string }
  | { kind: 'open-run'; runId: string; what: 'child' | 'awaited' | 'budget' }
  | { kind: 'runners' | 'limits' | 'workflow' | 'resume' }
  | { kind: 'retry-from' | 'show-step'; stepName: string }

/** Returns the action, if there is one. */
export function whyAction({
  runId: ownId,
  status,
  waitingFor,
  event,
  missing,
  error,
}: RunExplanation): WhyAction | undefined {
  if (status === 'paused') return pausedAction(ownId, waitingFor)
  if (status === 'failed')
    return error?.stepName === undefined ? undefined : { kind: 'retry-from', stepName: error.stepName }
  const { kind, stepName, childRunId, runId, eventName } = waitingFor ?? {}
  if (status === 'queued') {
    if (kind === 'concurrency' || kind === 'throttle') return { kind: 'limits' }
    if (kind === 'workflow-paused') return { kind: 'workflow' }
    return missing || kind === 'runner' ? { kind: 'runners' } : undefined
  }
  if (kind === 'limit') return { kind: 'limits' }
  if (kind === 'event') return { kind: 'send-event', name: event?.name ?? eventName ?? '' }
  if (kind === 'child' && childRunId !== undefined) return { kind: 'open-run', runId: childRunId, what: 'child' }
  if (kind === 'run' && runId !== undefined) return { kind: 'open-run', runId, what: 'awaited' }
  if (kind === 'retry' && stepName !== undefined) return { kind: 'show-step', stepName }
  return undefined
}

/** A mere resume would pause a run beyond its budget again: link to the run that has the budget, whose page has the button. */
function pausedAction(ownId: string, waitingFor: RunExplanation['waitingFor']): WhyAction | undefined {
  if (waitingFor?.kind !== 'budget' || waitingFor.runId === undefined) return { kind: 'resume' }
  return waitingFor.runId === ownId ? undefined : { kind: 'open-run', runId: waitingFor.runId, what: 'budget' }
}

/** Explains how to raise the limit that holds the run. A run keeps the limits that its workflow had at the run's creation. */
export function howToRaise({ status, waitingFor }: RunExplanation): string | undefined {
  const policy = waitingFor?.kind
  if (status !== 'queued' || (policy !== 'concurrency' && policy !== 'throttle')) return undefined
  const start =
    policy === 'throttle'
      ? 'It starts when the throttle allows.'
      : 'It starts when a run that holds a slot ends or is cancelled.'
  return `The limit is “${policy}” in the workflow's code. Raise it there and restart the runner: runs created after that use the new limit. This run keeps the old one. ${start}`
}

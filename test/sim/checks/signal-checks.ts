// Checks signals and updates at the end of a simulation: each accepted signal reaches at most one step of its chain, in the
// order of the log, none is lost, an update has the answer of the step that took it, and the log of the last run counts those
// that nobody took (docs/signals.md).

import type { Event } from '../../../packages/engine/src/domain/model/event.ts'
import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import { signalOf } from '../../../packages/engine/src/domain/text/name.ts'
import { ensure } from '../core/violation.ts'
import type { SentSignal } from '../workload/journal.ts'
import { chainOf } from './chain-checks.ts'
import type { JudgedRun, Snapshot } from './snapshot.ts'
import { tokenOf } from './step-checks.ts'

/** The engine's line about the signals that a run left unused. */
const LEFT_SIGNALS = /^The run ended and left (\d+) signals?/

export function checkSignals(all: Snapshot): void {
  const events = [...all.events.values()].filter(isSignal).reverse()
  const byToken = new Map(events.map(event => [tokenOf(event.data), event]))
  for (const sent of all.journal.signals) checkSent(all, sent, byToken.get(sent.token))
  ensure(byToken.size === events.length, 'a signal is logged once', () => JSON.stringify(events))
  for (const record of all.runs.values()) if (record.run.continuedFrom === undefined) checkChain(all, record, events)
}

/** The answer to a signal shows whether the signal is in the log. */
function checkSent({ runs }: Snapshot, sent: SentSignal, event: Event | undefined): void {
  const detail = () => `${JSON.stringify(sent)}: ${JSON.stringify(event)}`
  const subjects = [sent.runId, sent.token]
  if (sent.status === 202) ensure(event, 'a signal that was taken in is in the log', detail, subjects)
  if (sent.status === 409) ensure(!event, 'a signal that was refused is not in the log', detail, subjects)
  if (event) ensure(runs.has(event.runId ?? ''), 'a signal is for a run', detail, subjects)
}

/** Checks a chain of runs: its signals, and the steps that waited for them. */
function checkChain(all: Snapshot, first: JudgedRun, events: readonly Event[]): void {
  const chain = chainOf(all, first) as JudgedRun[]
  const own = events.filter(({ runId }) => chain.some(({ id }) => id === runId))
  const subjects = chain.map(({ id }) => id)
  const waits = chain.flatMap(record => waitsOf(record).map(step => ({ record, step })))
  const taken = waits.flatMap(({ step }) => (step.eventId === undefined ? [] : [step.eventId]))
  const detail = () => `${JSON.stringify(waits.map(({ step }) => step))}: ${JSON.stringify(own)}`
  ensure(new Set(taken).size === taken.length, 'a signal is given once', detail, subjects)
  for (const wait of waits) if (wait.step.eventId !== undefined) checkTaken(wait, own, subjects)
  for (const name of new Set(own.map(event => signalOf(event.name)))) {
    const named = own.filter(event => signalOf(event.name) === name).map(({ id }) => id)
    const places = taken.map(id => named.indexOf(id)).filter(place => place >= 0)
    ensure(
      places.every((place, i) => place === i),
      'signals of a name are taken in the order of the log',
      detail,
      subjects,
    )
  }
  for (const { record, step } of waits) if (step.timedOut) checkTimeout(all, { record, step, chain, taken })
  const last = chain.at(-1) as JudgedRun
  const left = own.filter(({ id }) => !taken.includes(id)).length
  const told = (all.logs.get(last.id) ?? []).map(({ message }) => LEFT_SIGNALS.exec(message)?.[1])
  const counts = told.filter(count => count !== undefined)
  const wanted = left === 0 ? [] : [String(left)]
  ensure(
    counts.join() === wanted.join(),
    'a chain logs how many signals it left',
    () => `${counts}, ${detail()}`,
    subjects,
  )
}

const isSignal = ({ source }: Event): boolean => source === 'signal' || source === 'update'

/** An update has the answer of the step after the wait that took it. Without that step it has no answer. */
function checkAnswer(
  { record, step }: { record: JudgedRun; step: Step },
  event: Event,
  subjects: readonly string[],
): void {
  const reply = record.steps.find(({ op, name }) => op === 'ReplyToUpdate' && name === `reply to ${step.name}`)
  const data = JSON.stringify({ run: record.id, step: `reply to ${step.name}` })
  const wanted = reply && event.source === 'update' ? JSON.stringify({ reply: data }) : undefined
  const found = event.answer && JSON.stringify(event.answer)
  ensure(found === wanted, 'an update has its answer', () => `${found}, ${wanted}: ${JSON.stringify(event)}`, subjects)
}

function waitsOf({ steps }: JudgedRun): Step[] {
  return steps
    .filter(({ op, carried, settledBy }) => op === 'WaitForSignal' && !carried && !settledBy)
    .sort((a, b) => a.seq - b.seq)
}

function checkTaken(wait: { record: JudgedRun; step: Step }, own: readonly Event[], subjects: readonly string[]): void {
  const { step } = wait
  const event = own.find(({ id }) => id === step.eventId)
  const detail = () => `${JSON.stringify(step)}: ${JSON.stringify(event)}`
  const result = JSON.parse(step.data ?? 'null') as { id?: string; name?: string; data?: unknown } | null
  const isIts = event && result?.id === event.id && result.name === signalOf(event.name)
  ensure(
    isIts && tokenOf(JSON.stringify(result?.data)) === tokenOf(event.data),
    'a wait has its signal',
    detail,
    subjects,
  )
  if (event) checkAnswer(wait, event, subjects)
}

/** No wait times out if a signal for its run was accepted before. */
function checkTimeout(
  { journal, events }: Snapshot,
  {
    record,
    step,
    chain,
    taken,
  }: { record: JudgedRun; step: Step; chain: readonly JudgedRun[]; taken: readonly string[] },
): void {
  const { wall, timedOutAt, id } = record
  const until = (wall.wasSet ? timedOutAt.get(step.index) : step.wakeAt) ?? 0
  const upToHere = chain.slice(0, chain.indexOf(record) + 1)
  const missed = journal.signals.find(({ status, runId, signal, token, answeredAt = Infinity }) => {
    if (status !== 202 || answeredAt >= until || `${signal}` !== signalOf(step.eventName)) return false
    const event = [...events.values()].find(each => isSignal(each) && tokenOf(each.data) === token)
    return upToHere.some(link => link.id === runId) && event !== undefined && !taken.includes(event.id)
  })
  ensure(!missed, 'no wait misses a signal', () => `${id} ${JSON.stringify(step)} missed ${JSON.stringify(missed)}`, [
    id,
  ])
}

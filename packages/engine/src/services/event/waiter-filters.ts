// Thousands of runs may wait for one event, each with a filter over its own data, and hundreds of workflows may have a filter
// on it. Evaluates the filters in slices, between which the event loop goes on; the decision that follows only looks up the
// results. Called by ingest.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { EventSubject, isAwaited, isTriggered, type Report } from '../../domain/expressions/matching.ts'
import { workDone } from '../../domain/expressions/meter.ts'
import type { Waiter } from '../../domain/model/event.ts'
import type { Workflow } from '../../domain/model/workflow.ts'

/** With fewer filters, the decision evaluates them itself. */
export const FILTERS_AT_ONCE_MAX = 2
/** Units of work in one slice, a few milliseconds; reading a character of data counts as one. */
const SLICE_UNITS = 500_000
/** The cost of a filter besides its work and its data. */
const FILTER_UNITS = 2000

type ArrivedEvent = ConstructorParameters<typeof EventSubject>[0]

/** The waits whose filter the event meets; undefined when they are so few that the decision evaluates them itself. */
export async function evaluateFilters(
  waiters: readonly Waiter[],
  event: ArrivedEvent,
  report: Report,
): Promise<ReadonlySet<Waiter> | undefined> {
  if (waiters.length < FILTERS_AT_ONCE_MAX) return undefined
  const [subject, slices, awaited] = [new EventSubject(event), new Slices(event), new Set<Waiter>()]
  for (const waiter of waiters) {
    await slices.next(waiter.condition?.trigger.data?.length)
    if (isAwaited(waiter, subject, report)) awaited.add(waiter)
  }
  return awaited
}

/** Whether the event meets a trigger of each workflow; undefined when so few have a filter that the decision evaluates them. */
export async function evaluateTriggers(
  workflows: readonly Workflow[],
  event: ArrivedEvent & { name: string },
  report: Report,
): Promise<ReadonlyMap<Workflow, boolean> | undefined> {
  if (workflows.length < FILTERS_AT_ONCE_MAX) return undefined
  const filtered = workflows.filter(({ triggers }) => triggers.some(trigger => trigger.if !== undefined))
  if (filtered.length < FILTERS_AT_ONCE_MAX) return undefined
  const [subject, slices, isMet] = [new EventSubject(event), new Slices(event), new Map<Workflow, boolean>()]
  for (const workflow of filtered) {
    await slices.next()
    isMet.set(workflow, isTriggered(workflow, subject, event.name, report))
  }
  return isMet
}

/** Lets the event loop go on when the evaluations since it last did have taken their share. */
class Slices {
  #from = workDone()
  #units: number

  /** The first evaluation reads the event. */
  constructor({ data }: ArrivedEvent) {
    this.#units = data?.length ?? 0
  }

  /** To be awaited before each filter, which reads as many characters of other data. */
  next(dataChars = 0): Promise<void> | undefined {
    this.#units += FILTER_UNITS + dataChars
    if (this.#units + workDone() - this.#from <= SLICE_UNITS) return undefined
    return nextTurn().then(() => {
      this.#from = workDone()
      this.#units = 0
    })
  }
}

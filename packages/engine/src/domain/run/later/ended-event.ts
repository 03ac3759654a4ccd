// The event of a run that has ended (docs/events.md#events-of-the-engine). The commit of the end stores it in a row that is due
// at once. It arrives like a delayed event: once, and everything is decided at its arrival. Nothing is stored while no workflow
// listens.

import { ENGINE_EVENT_PREFIX, TERMINAL_STATUSES } from '@perdure/protocol'
import { nextGeneration } from '../../holds/generations.ts'
import type { CatalogView } from '../../model/catalog.ts'
import { type EngineEventFacts, isSameWorkflow } from '../../model/event.ts'
import type { FlowRow } from '../../model/flow-row.ts'
import { type EndedStatus, type Run, runKind } from '../../model/run.ts'
import { derivedId, shownRunId } from '../../text/ids.ts'
import type { JsonText } from '../../text/json-text.ts'
import { isEngineEvent } from '../../text/name.ts'
import { boundedEndText } from '../../view/run-end.ts'
import { followOnKind } from '../../view/run-summary.ts'
import { eventRow } from './scheduled-event.ts'

/** The names of the events. */
export const ENDED_EVENTS = TERMINAL_STATUSES.map(nameOf)

/** Maximum engine events in a chain of workflows that start each other; after that no more are sent. */
const ENGINE_EVENTS_IN_ROW_MAX = 7

/** The id of the event of a run that has ended, if the event was sent. */
export function endedEventId({ id, finishedAt = 0 }: Pick<Run, 'id' | 'finishedAt'>): string {
  return derivedId('evt', finishedAt, id, 'ended')
}

/**
 * The row of the event of a run that ends with this status; undefined if no workflow listens; a sentence if the event is not
 * sent for another reason. The run has its result or its error.
 */
export function endedEvent(
  run: Readonly<Run>,
  { status, now, catalog }: { status: EndedStatus; now: number; catalog: CatalogView },
): FlowRow | string | undefined {
  const name = nameOf(status)
  const listeners = catalog.triggeredBy(name)
  if (listeners.length === 0) return undefined
  const notFor = startedBy(run) === name ? { name: run.workflow, app: run.app } : undefined
  if (listeners.every(workflow => isSameWorkflow(workflow, notFor))) return undefined
  const generation = nextGeneration(run)
  const { engineEvents = 0 } = run
  if (engineEvents >= ENGINE_EVENTS_IN_ROW_MAX) return notSent(name, `it is the ${engineEvents + 1}th in a row`)
  if (generation > catalog.generationsMax) return notSent(name, `ENGINE_GENERATION_LIMIT is ${catalog.generationsMax}`)
  const engine: EngineEventFacts = { generation, inRow: engineEvents + 1, ...(notFor ? { notFor } : {}) }
  const id = endedEventId({ id: run.id, finishedAt: now })
  const event = { id, name, app: run.app, data: dataOf(run, status), engine, createdAt: now }
  return eventRow('ended', run.namespace, event)
}

/** The warning about a run whose end is sent to no workflow; undefined for all other runs. */
export function inRowWarning({ engineEvents = 0 }: Pick<Run, 'engineEvents'>): string | undefined {
  if (engineEvents < ENGINE_EVENTS_IN_ROW_MAX) return undefined
  return `${engineEvents} events of the engine in a row led to this run, so no event is sent for its end. Make sure that workflows do not start each other by events of the engine.`
}

function nameOf(status: EndedStatus): string {
  return `${ENGINE_EVENT_PREFIX}run.${status}`
}

function notSent(name: string, why: string): string {
  return `Event "${name}" was not sent, since ${why}: workflows start each other by events of the engine. Add a filter (\`if\`) to their triggers.`
}

/** The event of the engine that started the run, or the run that it forks, continues or follows. */
function startedBy({ trigger: { id, name } }: Readonly<Run>): string | undefined {
  return id !== undefined && isEngineEvent(name) ? name : undefined
}

function dataOf(run: Readonly<Run>, status: EndedStatus): JsonText {
  const { workflow, app, error, result, attributes } = run
  const about = {
    runId: shownRunId(run.id),
    workflow,
    app,
    status,
    error,
    kind: followOnKind(runKind(run)),
    parentRunId: shownRunId(run.parentRunId),
    attributes,
  }
  return boundedEndText(about, result)
}

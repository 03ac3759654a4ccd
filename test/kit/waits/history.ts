// Reads the history of a random program's run, in the form that the model needs: the log, and the steps in order of settling.

import type { Client } from '@perdure/client'
import type { History, LoggedEvent, SettledStep } from './model.ts'
import { EVENT_NAMES } from './program.ts'

export async function readHistory(api: Client, runId: string, prefix: string): Promise<History> {
  const run = await api.getRun({ id: runId })
  const { items: steps } = await api.listRunSteps({ id: runId })
  const log = await readLog(api, prefix)
  const byName = new Map(steps.map(step => [step.name, step]))
  const settled: SettledStep[] = []
  for await (const frame of api.streamRun({ id: runId })) {
    if (frame.kind !== 'step_status' || frame.status !== 'succeeded') continue
    const { op, data, startedAt } = byName.get(frame.name) as (typeof steps)[number]
    const eventId = op === 'WaitForEvent' ? (data as { id: string }).id : undefined
    settled.push({ path: frame.name, startedAt: Date.parse(startedAt), ...(eventId !== undefined && { eventId }) })
  }
  const open = steps.filter(({ op, status }) => op === 'WaitForEvent' && status === 'cancelled').map(({ name }) => name)
  return { prefix, log, settled, open, endedAt: Date.parse(run.finishedAt as string) }
}

/** The events of the program, oldest first. */
async function readLog(api: Client, prefix: string): Promise<LoggedEvent[]> {
  const log: LoggedEvent[] = []
  for await (const { id, name, receivedAt } of api.pages.listEvents({ limit: 1000 }))
    if (EVENT_NAMES.some(event => name === prefix + event)) log.push({ id, name, at: Date.parse(receivedAt) })
  return log.reverse()
}

// Starts a workflow with events of the log: the user chooses the workflow, and each event starts one run of it.

import { useId, useState } from 'react'
import { type Item, useRead } from '../../data/queries.ts'
import { writeEach } from '../../data/write-each.ts'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'

export interface RedriveProps {
  /** The events, in any order. */
  events: readonly Pick<Item<'listEvents'>, 'id' | 'name' | 'receivedAt'>[]
  onClose(): void
}

export default function Redrive({ events, onClose }: RedriveProps) {
  const workflows = useRead('listWorkflows', {}).data ?? []
  const names = new Set(events.map(({ name }) => name))
  const listens = ({ triggers }: (typeof workflows)[number]) => triggers.some(({ event }) => names.has(event ?? ''))
  const [chosen, setChosen] = useState<string>()
  const options = [...workflows].sort((a, b) => Number(listens(b)) - Number(listens(a)))
  const target = options.find(each => keyOf(each) === chosen) ?? options[0]
  const select = useId()
  const oldestFirst = [...events].sort(byArrival)
  const inputs = target ? oldestFirst.map(({ id }) => ({ id, body: { workflow: target.name, app: target.app } })) : []
  const count = events.length === 1 ? 'the event' : `${events.length} events`
  return (
    <Confirm
      title={`Start a workflow with ${count}`}
      action={events.length === 1 ? 'Start 1 run' : `Start ${events.length} runs`}
      disabledBecause={target ? undefined : 'no workflow is registered'}
      call={inputs.map(input => ({ id: 'redriveEvent' as const, input }))}
      onConfirm={() => void redrive(inputs)}
      onClose={onClose}
    >
      <p>
        <label htmlFor={select}>Workflow</label>{' '}
        <select id={select} value={target && keyOf(target)} onChange={event => setChosen(event.target.value)}>
          {options.map(each => (
            <option key={keyOf(each)} value={keyOf(each)}>
              {each.name} in {each.app}
              {listens(each) ? '' : ' (no trigger for it)'}
            </option>
          ))}
        </select>
      </p>
      <p>
        Each event starts one run, oldest first, regardless of the workflow's triggers and filters. Events that already
        started the workflow start it again.
      </p>
    </Confirm>
  )
}

/** The ids order events of the same millisecond: they sort in the order of their creation. */
const byArrival = (a: { receivedAt: string; id: string }, b: { receivedAt: string; id: string }) => {
  const [left, right] = a.receivedAt === b.receivedAt ? [a.id, b.id] : [a.receivedAt, b.receivedAt]
  return left < right ? -1 : 1
}

const keyOf = ({ app, name }: { app: string; name: string }) => `${app}\n${name}`

/** Makes one call after the other, so that the runs begin in the order of their events. */
async function redrive(inputs: Parameters<typeof writeEach<'redriveEvent'>>[1]): Promise<void> {
  const renews = ['listEvents', 'getEvent', 'explainEvent', 'getEventTree', 'listRuns'] as const
  const { done, refused, message } = await writeEach('redriveEvent', inputs, { renews, atOnce: 1 })
  toast(done === 1 ? '1 run started' : `${done} runs started`)
  if (refused > 0) toast(`${refused === 1 ? '1 event' : `${refused} events`} refused: ${message}`, { isError: true })
}

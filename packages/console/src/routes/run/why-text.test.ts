// The why line names the one action that would end a wait, and links to what its sentence names.

import type { RunExplanation, RunSummary } from '@perdure/protocol'
import { expect, it } from 'vitest'
import { whyLine } from './why-text.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const RUN = { workflow: 'order', app: 'shop', attempt: 1 } as RunSummary
const lineOf = (why: object) => {
  const explained = { since: '2026-03-01T11:38:00Z', ...why } as RunExplanation
  return whyLine({ ...RUN, status: explained.status }, explained, NOW)
}

it.each([
  [
    'a slot',
    { status: 'queued', waitingFor: { kind: 'concurrency', key: 'acct-17' }, position: 41 },
    'Held for 22 min until a slot of key “acct-17” is free, 41 before it.',
    { action: { kind: 'limits', workflow: 'order' } },
  ],
  [
    'the next start of a throttle',
    { status: 'queued', waitingFor: { kind: 'throttle' }, position: 0, wakeAt: '2026-03-01T12:05:00Z' },
    /^Held for 22 min by its throttle, next in line, until .*, in 5 min\.$/,
    { action: { kind: 'limits', workflow: 'order' } },
  ],
  [
    'a paused workflow',
    { status: 'queued', waitingFor: { kind: 'workflow-paused' } },
    'Held for 22 min: workflow “order” is paused, and starts nothing until it is resumed.',
    { action: { kind: 'workflow', app: 'shop', workflow: 'order' } },
  ],
  [
    'an event',
    {
      ...{ status: 'waiting', waitingFor: { kind: 'event', stepName: 'approval' } },
      ...{ event: { name: 'order.approved' }, wakeAt: '2026-03-01T12:05:00Z' },
    },
    /^Step “approval” waits for 22 min for event “order.approved”, until .*, in 5 min\.$/,
    {
      action: { kind: 'send-event', name: 'order.approved', app: 'shop' },
      link: { kind: 'events', name: 'order.approved' },
    },
  ],
  [
    'the next attempt of a step',
    {
      ...{ status: 'waiting', wakeAt: '2026-03-01T12:05:00Z' },
      waitingFor: { kind: 'retry', stepName: 'charge', attempt: 2, maxAttempts: 5 },
    },
    /^Step “charge” failed \(attempt 2 of 5\) and is tried again .*, in 5 min\.$/,
    { action: { kind: 'show-step', stepName: 'charge' } },
  ],
  [
    'a runner with the pass',
    { status: 'running', runner: 'shop-1', passSince: '2026-03-01T11:59:58Z' },
    'Runner “shop-1” has had the current pass for 2 s.',
    { link: { kind: 'runners', app: 'shop' } },
  ],
])('%s', (_, why, sentence, ways) => {
  const line = lineOf(why)
  if (sentence instanceof RegExp) expect(line.sentence).toMatch(sentence)
  else expect(line.sentence).toBe(sentence)
  expect(line).toMatchObject(ways)
})

it('a limit says how it is raised, and that the run keeps its own', () => {
  const held = (kind: string) => lineOf({ status: 'queued', waitingFor: { kind } }).how
  expect(held('concurrency')).toMatch(/“concurrency” in the code .* This run keeps its own\. It starts when a run/)
  expect(held('throttle')).toContain('“throttle” in the code')
  expect(held('runner')).toBeUndefined()
})

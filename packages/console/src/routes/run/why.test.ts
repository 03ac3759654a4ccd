// The engine's sentence on the page of a run: its times are in the reader's zone, texts of others are isolated, and
// the one action that would end the wait is named.

import type { RunExplanation } from '@perdure/protocol'
import { expect, it, test } from 'vitest'
import { howToRaise, sentenceParts, sentenceText, whyAction } from './why.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const why = (fields: object) => ({ sentence: '', since: '2026-03-01T11:38:00Z', ...fields }) as RunExplanation

it('the sentence is the engine’s, with the times of the reader and how far they are', () => {
  const until = (sentence: string) => sentenceText(why({ sentence }), NOW)
  expect(until('It has been running since 2026-03-01T11:38:00.000Z.')).toMatch(
    /^It has been running since .*\d\d:\d\d \(22 min ago\)\.$/,
  )
  expect(until('Step "nap" sleeps until 2026-03-01T12:05:00.000Z.')).toMatch(
    /^Step "nap" sleeps until .*\d\d:\d\d \(in 5 min\)\.$/,
  )
  const named = 'Step "2026-03-01T12:05:00.000Z" waits for event "paid", without a deadline.'
  expect(until(named)).toBe(named)
})

const others = (sentence: string, message?: string) =>
  sentenceParts(why({ sentence, error: { message } }), NOW).flatMap(({ text, isOfOthers }) =>
    isOfOthers ? [text] : [],
  )

test.each([
  ['It succeeded after 18ms.', undefined, []],
  ['Step "approval" waits for event "طلب.جديد".', undefined, ['approval', 'طلب.جديد']],
  ['It failed: تم "رفض" 12.5 (step_failed in step "شحن")', 'تم "رفض" 12.5', ['تم "رفض" 12.5', 'شحن']],
  ['It failed: x', 'another message', []],
  ['It was paused: no disk. Resume it for new tries.', 'no disk', ['no disk']],
  ['Step "" waits.', '', []],
  ['It failed: a "quote', 'a "quote', ['a "quote']],
])('%s keeps its words, and isolates those of others', (sentence, message, expected) => {
  expect(others(sentence, message)).toEqual(expected)
  expect(sentenceText(why({ sentence, error: { message } }), NOW)).toBe(sentence)
})

it.each([
  ['a slot', { status: 'queued', waitingFor: { kind: 'concurrency', key: 'acct-17' } }, { kind: 'limits' }],
  ['its turn at a limit of steps', { status: 'waiting', waitingFor: { kind: 'limit' } }, { kind: 'limits' }],
  ['the next start of a throttle', { status: 'queued', waitingFor: { kind: 'throttle' } }, { kind: 'limits' }],
  ['a paused workflow', { status: 'queued', waitingFor: { kind: 'workflow-paused' } }, { kind: 'workflow' }],
  ['a runner', { status: 'queued', missing: { app: 'shop', workflow: 'order' } }, { kind: 'runners' }],
  ['room on a runner', { status: 'queued', waitingFor: { kind: 'runner' } }, { kind: 'runners' }],
  [
    'an event',
    { status: 'waiting', waitingFor: { kind: 'event', stepName: 'approval' }, event: { name: 'order.approved' } },
    { kind: 'send-event', name: 'order.approved' },
  ],
  [
    'the budget of another run',
    { status: 'paused', waitingFor: { kind: 'budget', runId: 'run_2' } },
    { kind: 'open-run', runId: 'run_2', what: 'budget' },
  ],
  [
    'a child',
    { status: 'waiting', waitingFor: { kind: 'child', childRunId: 'run_2' } },
    { kind: 'open-run', runId: 'run_2', what: 'child' },
  ],
  [
    'another run',
    { status: 'waiting', waitingFor: { kind: 'run', runId: 'run_2' } },
    { kind: 'open-run', runId: 'run_2', what: 'awaited' },
  ],
  [
    'the next attempt of a step',
    { status: 'waiting', waitingFor: { kind: 'retry', stepName: 'charge', attempt: 2, maxAttempts: 5 } },
    { kind: 'show-step', stepName: 'charge' },
  ],
  ['the next try of a pass', { status: 'waiting', waitingFor: { kind: 'retry' } }, undefined],
  ['a resume', { status: 'paused', waitingFor: { kind: 'failure' } }, { kind: 'resume' }],
  ['nothing, failed', { status: 'failed', error: { stepName: 'pay' } }, { kind: 'retry-from', stepName: 'pay' }],
  ['a runner with the pass', { status: 'running', runner: 'shop-1', passSince: '2026-03-01T11:59:58Z' }, undefined],
])('a run that waits for %s has its action', (_, fields, action) => {
  expect(whyAction(why(fields))).toEqual(action)
})

it('a limit says how it is raised, and that the run keeps its own', () => {
  const how = (kind: string) => howToRaise(why({ status: 'queued', waitingFor: { kind } }))
  expect(how('concurrency')).toMatch(
    /“concurrency” in the workflow's code.* This run keeps the old one\. It starts when a run/,
  )
  expect(how('throttle')).toContain('“throttle” in')
  expect(how('runner')).toBeUndefined()
})

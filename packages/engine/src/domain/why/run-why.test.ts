// The answer for every status and for every reason to wait.

import { RUN_STATUSES } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import type { Run, WaitingFor } from '../model/run.ts'
import type { Step } from '../model/step.ts'
import {
  awaitingChild,
  endedRun,
  idleRun,
  NOW,
  retrying,
  run,
  SECOND,
  sleeping,
  waiting,
} from '../testkit/nouns.testkit.ts'
import { type Facts, runWhy, settledLast } from './run-why.ts'

const LATER = NOW + 60 * SECOND
const AT = new Date(NOW).toISOString()
const THEN = new Date(LATER).toISOString()

function why(
  row: Run,
  fields: Partial<Omit<Facts, 'run' | 'steps'>> = {},
  ...steps: Omit<Step, 'runId' | 'index' | 'seq'>[]
) {
  const facts: Facts = {
    run: row,
    since: NOW,
    steps: steps.map((step, index) => ({ ...step, runId: row.id, index, seq: index + 1 })),
    runners: { live: 1, stale: 2, disconnected: 0, without: 0 },
    childStatuses: new Map(),
    triesMax: 8,
    generationsMax: 100,
    ...fields,
  }
  return runWhy(facts)
}

const held = (waitingFor?: WaitingFor) => idleRun('queued', { waitingFor })
const parked = (waitingFor: WaitingFor) => idleRun('waiting', { waitingFor })

describe('queued', () => {
  test('for room in the engine', () => {
    const { sentence, runners, waitingFor } = why(held())
    expect(sentence).toBe(
      'It is due and starts as soon as the engine has room; app "shop" has 1 live and 2 stale runners.',
    )
    expect({ runners, waitingFor }).toEqual({ runners: { live: 1, stale: 2 }, waitingFor: undefined })
  })

  test('without a live runner: never promises that the engine takes it up', () => {
    const none = { live: 0, stale: 0, disconnected: 0, without: 0 }
    expect(why(held(), { runners: none })).toMatchObject({
      sentence:
        'It is due, but no runner can take it. No runner of app "shop" has workflow "order": none is registered. The run starts as soon as such a runner registers.',
      missing: { app: 'shop', workflow: 'order' },
    })
  })

  test('while no runner can be reached', () => {
    const row = held({ kind: 'runner', until: LATER })
    const again = `The run is tried again at ${THEN}, and as soon as such a runner registers.`
    expect(why(row)).toMatchObject({
      sentence: `No runner could be reached: app "shop" has 1 live and 2 stale runners with workflow "order". ${again}`,
      wakeAt: THEN,
      waitingFor: { kind: 'runner', until: THEN },
      missing: undefined,
    })
    const runners = { live: 0, stale: 2, disconnected: 0, without: 3 }
    expect(why(row, { runners })).toMatchObject({
      sentence: `No runner could be reached: app "shop" has 0 live and 2 stale runners with workflow "order", and 3 without it. ${again}`,
      runners: { live: 0, stale: 2, without: 3 },
      missing: { app: 'shop', workflow: 'order' },
    })
  })

  test('while no runner serves its workflow: names app and workflow', () => {
    const row = held({ kind: 'runner', until: LATER })
    const none = (without: number) => ({ runners: { live: 0, stale: 0, disconnected: 0, without } })
    const again = `The run is tried again at ${THEN}, and as soon as such a runner registers.`
    expect(why(row, none(0)).sentence).toBe(
      `No runner of app "shop" has workflow "order": none is registered. ${again}`,
    )
    expect(why(row, none(1))).toMatchObject({
      sentence: `No runner of app "shop" has workflow "order": 1 is registered without it. ${again}`,
      missing: { app: 'shop', workflow: 'order' },
    })
    expect(why({ ...row, runner: 'r7' }, none(1))).toMatchObject({
      sentence: `Its pin, runner "r7" of app "shop", has no workflow "order". ${again}`,
      missing: { app: 'shop', workflow: 'order', runner: 'r7' },
      runner: 'r7',
    })
  })

  test('for room on a runner, in the runner queue or not yet', () => {
    const row = held({ kind: 'runner' })
    expect(why(row).sentence).toBe(
      'It waits for a runner: the runners of app "shop" are at capacity; there are 1 live and 2 stale runners.',
    )
    expect(why({ ...row, runner: 'r7' }, { isInRunnerQueue: true }).sentence).toMatch(
      /^It is queued for a runner: its pin "r7" is at capacity;/,
    )
    expect(why({ ...row, status: 'running' }, { isInRunnerQueue: true }).sentence).toMatch(/^It is queued for a runner/)
  })

  test('for a runner whose socket is gone', () => {
    const runners = { live: 0, stale: 0, disconnected: 1, without: 0 }
    const gone = why({ ...held({ kind: 'runner', until: LATER }), runner: 'r7' }, { runners })
    expect(gone.sentence).toBe(
      `No runner could be reached: its pin "r7" of app "shop" has 0 live, 0 stale and 1 disconnected runners with workflow "order". The run is tried again at ${THEN}, and as soon as such a runner registers.`,
    )
    expect(gone.runners).toMatchObject({ live: 0, stale: 0, disconnected: 1 })
  })

  test('held by a concurrency limit, behind others', () => {
    expect(why(held({ kind: 'concurrency', key: 'c1' }), { position: 3 })).toMatchObject({
      sentence: 'It is held by its concurrency limit for key "c1" until another run ends; 3 runs are ahead of it.',
      position: 3,
      waitingFor: { kind: 'concurrency', key: 'c1' },
    })
  })

  test('held by a throttle', () => {
    expect(why(held({ kind: 'throttle', until: LATER }))).toMatchObject({
      sentence: `It is held by its throttle until ${THEN}.`,
      wakeAt: THEN,
    })
    const first = { ...held({ kind: 'throttle', until: NOW }), startedAt: undefined, availableAt: LATER }
    expect(why(first, { position: 0 })).toMatchObject({
      sentence: `It is held by its throttle until ${THEN}; it is next in the queue.`,
      wakeAt: THEN,
    })
    const rechecked = { ...first, waitingFor: { kind: 'throttle', until: LATER } as const, availableAt: NOW + 1 }
    expect(why(rechecked, { position: 0 }).wakeAt).toBe(THEN)
    const later = why(first, { position: 2 })
    expect(later.sentence).toBe('It is held by its throttle; 2 runs are ahead of it.')
    expect(later.wakeAt).toBeUndefined()
  })
})

describe('running', () => {
  test('here: the runner, and since when', () => {
    expect(why(run(), { pass: { pass: 1, runner: 'r1', passSentAt: NOW } })).toMatchObject({
      sentence: `Runner "r1" has been working on it since ${AT}.`,
      runner: 'r1',
      passSince: AT,
    })
    const { sentence } = why(run(), { pass: { pass: 1, runner: 'r1', passSentAt: NOW }, runningStep: 'pay' })
    expect(sentence).toBe(`Runner "r1" has been working on it since ${AT}, now on step "pay".`)
  })

  test('again, after failed passes', () => {
    const again = why(run({ transportTries: 2 }), { pass: { pass: 1, runner: 'r1', passSentAt: NOW } })
    expect(again.sentence).toBe(`Runner "r1" has been working on it since ${AT}. 2 tries before this one failed.`)
  })

  test('elsewhere', () => {
    expect(why(run())).toMatchObject({ sentence: `It has been running since ${AT}.`, since: AT })
  })
})

describe('waiting', () => {
  test('for a sleep', () => {
    expect(why(parked({ kind: 'sleep', stepName: 'nap', until: LATER }), {}, sleeping('nap', LATER))).toMatchObject({
      sentence: `Step "nap" sleeps until ${THEN}.`,
      wakeAt: THEN,
    })
  })

  test('for an event, with its filter', () => {
    const row = parked({ kind: 'event', stepName: 'pay', eventName: 'paid' })
    const step = waiting('pay', 'paid', { condition: 'async.data.id == event.data.id' })
    expect(why(row, {}, step)).toMatchObject({
      sentence: 'Step "pay" waits for event "paid", without a deadline.',
      event: { name: 'paid', if: 'async.data.id == event.data.id' },
    })
    const until = { ...row, waitingFor: { ...(row.waitingFor as WaitingFor), until: LATER } }
    expect(why(until, {}, step).sentence).toContain(`until ${THEN} at the latest`)
  })

  test('for one step of a race, or of several in parallel: it names the step since which the handler has called none', () => {
    const row = parked({ kind: 'event', stepName: 'b', eventName: 'b' })
    const open = waiting('b', 'b')
    expect(why(row, { settledLast: 'a' }, open).sentence).toBe(
      'Step "b" waits for event "b", without a deadline. The handler has called no step since step "a" ended: it awaits an open step or, after a race, something outside steps. In the second case, if its process has ended or was frozen, the run continues only when an open step settles. Put I/O into a step.',
    )
    const at = (seq: number, name: string) => ({ ...open, runId: row.id, index: 0, seq, name })
    expect(settledLast([at(1, 'b')], [at(3, 'a'), at(2, 'c')])?.name).toBe('a')
    expect(settledLast([at(1, 'b'), at(4, 'd')], [at(3, 'a')])).toBeUndefined()
    expect(settledLast([at(1, 'b')], [])).toBeUndefined()
  })

  test('for children, listing all of them', () => {
    const row = parked({ kind: 'child', stepName: 'a', childRunId: 'run_a' })
    const childStatuses = new Map([['run_a', 'running'] as const, ['run_b', 'queued'] as const])
    expect(why(row, { childStatuses }, awaitingChild('a', 'run_a'), awaitingChild('b', 'run_b'))).toMatchObject({
      sentence: 'Step "a" waits for run run_a, which is running. 1 more of its steps is open.',
      childRunId: 'run_a',
      children: [
        { stepName: 'a', runId: 'run_a', status: 'running' },
        { stepName: 'b', runId: 'run_b', status: 'queued' },
      ],
    })
  })

  test('for the retry of a step, and of a pass', () => {
    const step = why(parked({ kind: 'retry', stepName: 'work', until: LATER }), {}, retrying('work', LATER))
    expect(step.sentence).toBe(`Step "work" failed and is tried again at ${THEN}.`)
    const tries = { attempt: 2, maxAttempts: 5 }
    const counted = why(parked({ kind: 'retry', stepName: 'work', until: LATER, ...tries }))
    expect(counted).toMatchObject({
      sentence: `Step "work" failed (attempt 2 of 5) and is tried again at ${THEN}.`,
      waitingFor: tries,
    })
    const pass = parked({ kind: 'retry', until: LATER })
    expect(why(pass).sentence).toBe(`The last pass failed. It is repeated at ${THEN}.`)
    const row = {
      ...pass,
      transportTries: 3,
      waitingFor: { ...pass.waitingFor, error: 'socket hang up' } as const,
    }
    expect(why(row as Run)).toMatchObject({
      sentence: `The last pass failed (try 3 of 8). It is repeated at ${THEN}. The error: socket hang up`,
      waitingFor: { kind: 'retry', until: THEN, error: 'socket hang up' },
    })
  })

  test('on the turn of a suspect, whose suspicion no reader sees', () => {
    const suspicion = { losses: 1, atOnce: 1, ranMs: 0, lostAt: NOW }
    const row = { ...parked({ kind: 'retry', until: LATER }), lastFailure: { message: 'socket hang up', suspicion } }
    const lost = { ...row, waitingFor: { kind: 'retry', until: LATER, error: 'socket hang up (lost …)' } as const }
    expect(why(lost)).toMatchObject({
      sentence: `The last pass failed (it does not count as a try). It is repeated at ${THEN}. The error: socket hang up (lost …)`,
      error: { message: 'socket hang up' },
    })
    for (const [status, kind] of [
      ['waiting', 'retry'],
      ['queued', 'runner'],
    ] as const) {
      const waiting = { kind, until: LATER, error: 'It waits for its turn.', isForTurn: true } as const
      const shown = why({ ...row, status, waitingFor: waiting })
      expect(shown.sentence).toBe(`It waits for its turn. It is tried again at ${THEN}.`)
      expect(JSON.stringify(shown)).not.toMatch(/suspicion|isForTurn/)
    }
  })
})

test('paused: its timers go on', () => {
  const paused = why(idleRun('paused'), {}, sleeping('late', LATER + 1), sleeping('soon', LATER))
  expect(paused).toMatchObject({ status: 'paused', wakeAt: THEN, waitingFor: undefined })
  expect(paused.sentence).toContain(`paused at ${AT}`)
})

test.each([
  [1, 'because the only attempt of step "pay" failed'],
  [3, 'because the 3 attempts of step "pay" failed'],
])('paused after %i failed attempts', (attempt, sentence) => {
  const step = { ...retrying('pay', LATER), attempt }
  const row = idleRun('paused', { waitingFor: { kind: 'failure', stepName: 'pay', stepIds: [step.id] } })
  expect(why(row, {}, step).sentence).toContain(sentence)
})

test.each([
  ['run_1', 'because its budget is exceeded: 2 of 1 usd were spent'],
  ['run_9', 'because the budget of run run_9 is exceeded: 2 of 1 usd were spent'],
])('paused beyond the budget of %s', (runId, sentence) => {
  const row = idleRun('paused', { id: 'run_1', waitingFor: { kind: 'budget', name: 'usd', limit: 1, spent: 2, runId } })
  expect(why(row).sentence).toContain(sentence)
})

describe('ended', () => {
  test('well', () => {
    const ended = why(endedRun('succeeded', { startedAt: NOW - 3 * SECOND, finishedAt: NOW }))
    expect(ended.sentence).toBe(`It succeeded after 3.0s, at ${AT}.`)
    expect(ended.runners).toBeUndefined()
  })

  test('badly', () => {
    const error = { message: 'no money', code: 'step_failed', stepName: 'pay' } as const
    expect(why(endedRun('failed', { error }))).toMatchObject({
      sentence: `It failed after 59.0s, at ${AT}: no money (step_failed in step "pay")`,
      error,
    })
  })

  test('by being cancelled', () => {
    expect(why(endedRun('cancelled')).sentence).toBe(`It was cancelled after 59.0s, at ${AT}.`)
    const unstarted = why(endedRun('cancelled', { startedAt: undefined }))
    expect(unstarted.sentence).toBe(`It was cancelled at ${AT}, before it started.`)
  })
})

test('every status and kind has a sentence of its own', () => {
  const kinds = ['sleep', 'event', 'child', 'retry', 'runner', 'concurrency', 'throttle'] as const
  const said = [
    ...RUN_STATUSES.map(status => why(idleRun(status)).sentence),
    ...kinds.map(kind => why(idleRun(kind === 'runner' ? 'queued' : 'waiting', { waitingFor: { kind } })).sentence),
  ]
  expect(new Set(said).size).toBe(said.length)
})

// The pure parts of the waterfall, on the timeline of an order: bars, folds, axis, states, critical path, moments and
// comparisons.

import { describe, expect, it } from 'vitest'
import { barsOf, indexFrames } from './bars.ts'
import { criticalPath } from './critical-path.ts'
import { canOpen, rowsOf } from './folds.ts'
import { axisWithoutIdle } from './idle.ts'
import type { TimelineFrame, WaterfallStep } from './model.ts'
import { memoOf, nextStop, passStretches, stretchAt } from './pass-walk.ts'
import { diffSteps, firstDivergence } from './replay-diff.ts'
import { retryPlan } from './retry-plan.ts'
import { barName } from './row-name.ts'
import { clampSpan, ticksOf, zoomAt } from './scale.ts'
import { barsAt, momentAt, stopAt, stopsOf } from './scrub.ts'
import { timeInState } from './time-in-state.ts'

const ORIGIN = Date.parse('2026-03-01T09:00:00Z')
const at = (ms: number) => new Date(ORIGIN + ms).toISOString()

/** A step from `fromMs`, that succeeded at `toMs` if there is one. */
function step(name: string, index: number, fromMs: number, toMs?: number, more: Partial<WaterfallStep> = {}) {
  const ended = toMs === undefined ? {} : { finishedAt: at(toMs), durationMs: toMs - fromMs }
  const status = toMs === undefined ? 'waiting' : 'succeeded'
  return {
    id: `id-${name}-${index}`,
    name,
    op: 'StepRun',
    index,
    status,
    attempt: 1,
    startedAt: at(fromMs),
    ...ended,
    ...more,
  } as WaterfallStep
}

let seq = 0
const run = (ms: number, status: string) =>
  ({ kind: 'run_status', seq: ++seq, ts: at(ms), runId: 'run_1', status }) as TimelineFrame
const moved = (ms: number, index: number, status: string, attempt = 1) =>
  ({
    kind: 'step_status',
    seq: ++seq,
    ts: at(ms),
    runId: 'run_1',
    name: `s${index}`,
    index,
    status,
    attempt,
    ...(status === 'retrying' ? { error: { message: 'timed out' } } : {}),
  }) as TimelineFrame

const STEPS = [
  step('reserve', 0, 10, 60),
  step('charge', 1, 10, 900, { attempt: 2, maxAttempts: 5 }),
  step('cool off', 2, 910, 1910, { op: 'Sleep' }),
  step('approval', 3, 1920, 61_920, { op: 'WaitForEvent' }),
  step('announce', 4, 61_930, 61_930, { op: 'Emit' }),
]
const FRAMES = [
  run(0, 'queued'),
  run(5, 'running'),
  moved(60, 0, 'succeeded'),
  moved(60, 1, 'retrying'),
  run(80, 'waiting'),
  run(890, 'queued'),
  run(892, 'running'),
  moved(900, 1, 'succeeded', 2),
  moved(910, 2, 'waiting'),
  run(910, 'waiting'),
  moved(1910, 2, 'succeeded'),
  run(1911, 'running'),
  moved(1920, 3, 'waiting'),
  run(1920, 'waiting'),
  moved(61_920, 3, 'succeeded'),
  run(61_921, 'running'),
  moved(61_930, 4, 'succeeded'),
  run(61_940, 'succeeded'),
]
const INDEX = indexFrames(FRAMES)
const BARS = barsOf(STEPS, INDEX, ORIGIN)

describe('bars', () => {
  it('show each attempt with its error, and the backoff between', () => {
    expect(BARS[1]?.segments).toEqual([
      { kind: 'failed', attempt: 1, fromMs: 10, toMs: 60, error: 'timed out' },
      { kind: 'backoff', attempt: 1, fromMs: 60, toMs: 892 },
      { kind: 'run', attempt: 2, fromMs: 892, toMs: 900 },
    ])
    expect(barName(BARS[1] as never)).toBe(
      'charge, succeeded, attempt 2 of 5, started at 10 milliseconds, took 890 milliseconds',
    )
  })

  it('show true times and attempts where the engine sends them', () => {
    const measured = step('charge', 1, 10, 900, {
      attempts: [
        { attempt: 1, ranAt: at(20), ranMs: 30, error: { message: 'no' } },
        { attempt: 2, ranAt: at(895), ranMs: 4 },
      ],
    })
    expect(
      barsOf([measured], INDEX, ORIGIN)[0]?.segments.map(({ kind, fromMs, toMs }) => [kind, fromMs, toMs]),
    ).toEqual([
      ['failed', 20, 50],
      ['backoff', 50, 895],
      ['run', 895, 899],
    ])
  })

  it('of carried steps take no time: they were executed before the run', () => {
    const [bar] = barsOf([step('reserve', 0, -5000, -4000, { carried: true })], INDEX, ORIGIN)
    expect(bar).toMatchObject({ carried: true, fromMs: 0, toMs: 0 })
    expect(barName(bar as never)).toBe('reserve, carried, succeeded')
  })

  it('stay open while a step retries or waits', () => {
    const retrying = step('charge', 1, 10, undefined, { status: 'retrying', nextAttemptAt: at(900) })
    const [bar] = barsOf([retrying], indexFrames(FRAMES.slice(0, 4)), ORIGIN)
    expect(bar?.segments.at(-1)).toEqual({ kind: 'backoff', attempt: 1, fromMs: 60, toMs: 900 })
    expect(bar).not.toHaveProperty('toMs')
    expect(barsOf([step('nap', 0, 10, undefined, { op: 'Sleep' })], INDEX, ORIGIN)[0]).not.toHaveProperty('toMs')
  })
})

describe('rows', () => {
  const many = barsOf(
    Array.from({ length: 40 }, (_, i) => step(`import-row-${i}`, i, i, i + 10, i === 7 ? { status: 'failed' } : {})),
    indexFrames([]),
    ORIGIN,
  )

  it('fold names that repeat, with their counts, and open by key', () => {
    const [row, ...rest] = rowsOf([...many, ...BARS], { open: new Set() })
    expect(row).toMatchObject({ kind: 'fold', fold: { label: 'import-row-0…39', failed: 1, open: 0, p50Ms: 10 } })
    expect(rest).toHaveLength(BARS.length)
    expect(rowsOf(many, { open: new Set([row?.key as string]) })).toHaveLength(41)
  })

  it('are filtered and sorted', () => {
    expect(rowsOf(many, { open: new Set(), onlyFailed: true }).map(({ key }) => key)).toEqual(['id-import-row-7-7'])
    expect(rowsOf(BARS, { open: new Set(), hideDone: true })).toEqual([])
    const names = rowsOf(BARS, { open: new Set(), order: 'duration' }).map(row => row.kind === 'bar' && row.bar.name)
    expect(names).toEqual(['approval', 'cool off', 'charge', 'reserve', 'announce'])
    expect(rowsOf(BARS, { open: new Set(), filter: 'ANN' })).toHaveLength(1)
  })

  it('unfold children in place', () => {
    const parent = barsOf([step('ship', 0, 5, 9, { op: 'RunWorkflow', childRunId: 'run_2' })], INDEX, ORIGIN)
    const rows = rowsOf(parent, { open: new Set(['id-ship-0']), children: new Map([['run_2', BARS]]) })
    expect(rows.map(({ key, depth }) => [key, depth])).toContainEqual(['id-ship-0/id-charge-1', 1])
  })

  it('offer no child below depth 8', () => {
    const down = barsOf([step('down', 0, 5, 9, { op: 'RunWorkflow', childRunId: 'run_2' })], INDEX, ORIGIN)
    const keys = Array.from({ length: 12 }, (_, i) => Array.from({ length: i + 1 }, () => 'id-down-0').join('/'))
    const rows = rowsOf(down, { open: new Set(keys), children: new Map([['run_2', down]]) })
    expect(rows.map(canOpen)).toEqual([...Array.from({ length: 8 }, () => true), false])
  })
})

describe('axis', () => {
  const all = { fromMs: 0, toMs: 1000 }

  it('zooms at the pointer and stays within the run', () => {
    expect(zoomAt(all, 0.5, 0.5, all)).toEqual({ fromMs: 250, toMs: 750 })
    expect(zoomAt({ fromMs: 250, toMs: 750 }, 8, 0.5, all)).toEqual(all)
    expect(clampSpan({ fromMs: 900, toMs: 1100 }, all)).toEqual({ fromMs: 800, toMs: 1000 })
    expect(zoomAt(all, 1e-9, 0, all)).toEqual({ fromMs: 0, toMs: 1 })
  })

  it('has marks at round times', () => {
    expect(ticksOf({ fromMs: 0, toMs: 1000 }, 5).map(({ label }) => label)).toEqual([
      '0',
      '200 ms',
      '400 ms',
      '600 ms',
      '800 ms',
      '1 s',
    ])
    expect(ticksOf({ fromMs: 59_900, toMs: 60_100 }, 4).map(({ label }) => label)).toContain('1 min')
    expect(ticksOf({ fromMs: 1e12, toMs: 1e12 + 3 }, 3).length).toBeLessThanOrEqual(4)
  })

  it('cuts idle stretches, there and back', () => {
    const axis = axisWithoutIdle(BARS, 61_940)
    expect(axis.cuts.map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual([
      [60, 892],
      [900, 61_930],
    ])
    expect(axis.all.toMs).toBeLessThan(1000)
    for (const ms of [0, 450, 900, 30_000, 61_930, 61_940]) expect(axis.timeOf(axis.place(ms))).toBeCloseTo(ms, 3)
  })
})

it('time in state adds up to the age of the run', () => {
  const shares = timeInState({ statuses: INDEX.statuses, bars: BARS, originMs: ORIGIN, endMs: 61_940 })
  expect(shares.map(({ state, ms }) => [state, ms])).toEqual([
    ['queued', 7],
    ['running', 121],
    ['backing off', 810],
    ['event', 60_000],
    ['sleep', 1000],
    ['waiting', 2],
  ])
  expect(shares.reduce((sum, { ms }) => sum + ms, 0)).toBe(61_940)
})

it('the critical path is the chain that took the time', () => {
  expect(criticalPath(BARS, 61_940)).toEqual(['id-charge-1', 'id-cool off-2', 'id-approval-3', 'id-announce-4'])
})

it('a moment shows the run as it was', () => {
  const stops = stopsOf(FRAMES)
  const seqOf = (i: number) => (FRAMES[i] as TimelineFrame).seq
  expect(stopAt(stops, seqOf(3))).toBe(seqOf(3))
  const moment = momentAt(FRAMES, seqOf(4), ORIGIN)
  expect(moment).toMatchObject({ status: 'waiting', ms: 80, text: 'the run is waiting' })
  expect(barsAt(BARS, moment).map(({ name, status, toMs }) => [name, status, toMs])).toEqual([
    ['reserve', 'succeeded', 60],
    ['charge', 'retrying', undefined],
  ])
})

it('a step that begins in the millisecond of the frame is not drawn yet', () => {
  const bars = barsOf([step('a', 0, 0, 5), step('b', 1, 5, 9)], INDEX, ORIGIN)
  const frames = [run(0, 'running'), moved(5, 0, 'succeeded'), moved(9, 1, 'succeeded')]
  const drawnAt = (place: number) => barsAt(bars, momentAt(frames, frames[place]?.seq as number, ORIGIN))
  expect([1, 2].map(place => drawnAt(place).map(({ name }) => name))).toEqual([['a'], ['a', 'b']])
})

it('a walk by pass shows what each was sent and what it answered', () => {
  const stretches = passStretches(FRAMES, STEPS)
  const names = (indices: readonly (number | undefined)[]) => indices.map(index => STEPS[index as number]?.name)
  const told = stretches.map(stretch => [
    stretch.number,
    memoOf(stretch, FRAMES, STEPS).map(({ name }) => name),
    names(stretch.answer.map(({ index }) => index)),
  ])
  expect(told).toEqual([
    [0, [], []],
    [1, [], ['reserve', 'charge']],
    [2, ['reserve'], ['charge', 'cool off']],
    [3, ['reserve', 'charge', 'cool off'], ['approval']],
    [4, ['reserve', 'charge', 'cool off', 'approval'], ['announce']],
  ])
  const seqs = FRAMES.map(({ seq }) => seq)
  const stops = stretches.map(({ stopSeq }) => seqs.indexOf(stopSeq))
  expect(stops).toEqual([0, 4, 9, 13, 17])
  expect(stretchAt(stretches, seqs[10] as number)?.number).toBe(2)
  const walk = (from: number | undefined, by: 1 | -1) =>
    seqs.indexOf(nextStop(stretches, from === undefined ? undefined : seqs[from], by) as number)
  expect([walk(undefined, -1), walk(17, -1), walk(6, -1), walk(0, -1)]).toEqual([17, 13, 4, 0])
  expect([walk(0, 1), walk(7, 1), walk(17, 1), walk(undefined, 1)]).toEqual([4, 9, -1, -1])
})

it('passes that follow each other without a change of the status differ by their numbers', () => {
  const steps = [step('a', 0, 1, 2, { pass: 1 }), step('b', 1, 2, 3, { pass: 2 }), step('c', 2, 2, 3, { pass: 2 })]
  const frames = [run(0, 'running'), ...[0, 1, 2].map(index => moved(2, index, 'succeeded')), run(4, 'succeeded')]
  const answers = passStretches(frames, steps).map(({ answer }) => answer.map(({ index }) => index))
  expect(answers).toEqual([[0], [1, 2]])
})

it('a fork is compared by hashed ids', () => {
  const fork = [step('reserve', 0, 0, 500), step('charge', 1, 10, 900, { data: 1 }), step('extra', 2, 900, 901)]
  const diffs = diffSteps(STEPS.slice(0, 3), fork)
  expect(diffs.map(({ name, kind }) => [name, kind])).toEqual([
    ['reserve', 'slower'],
    ['charge', 'result'],
    ['extra', 'new'],
    ['cool off', 'gone'],
  ])
  expect(firstDivergence(diffs)?.name).toBe('charge')
})

it('a retry carries what came before, without the failure that ended the run', () => {
  const steps = [
    step('a', 0, 0, 1),
    step('b', 1, 1, 2, { status: 'failed' }),
    step('c', 2, 2, 3),
    step('d', 3, 3, 4, { status: 'failed' }),
  ]
  const plan = retryPlan(steps, steps[3] as WaterfallStep, 'd')
  expect([plan.carried, plan.rerun].map(list => list.map(({ name }) => name))).toEqual([['a', 'b', 'c'], ['d']])
  expect(retryPlan(steps, steps[2] as WaterfallStep, 'b').carried.map(({ name }) => name)).toEqual(['a'])
})

// The timeline of a run: every frame once, in seq order, for any page size and whichever row the frame is read from.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { firstSeq } from '../../../../packages/engine/src/domain/model/seq.ts'
import type { Step } from '../../../../packages/engine/src/domain/model/step.ts'
import type { StoredFrame } from '../../../../packages/engine/src/domain/view/timeline-frames.ts'
import type { Store } from '../../../../packages/engine/src/ports/store.ts'
import {
  aLeasedRun,
  aLine,
  aParkedRun,
  aRun,
  aStep,
  aWait,
  created,
  eachStore,
  fenceOf,
  NOW,
  NS,
  type OpenStore,
  write,
} from '../samples.ts'

/** Reads the whole timeline in pages of `limit`. Checks the promises of every page, and of the status read alone. */
async function read(store: Store, runId: string, limit = 1000): Promise<StoredFrame[]> {
  const frames: StoredFrame[] = []
  const position = { after: 0, openFrom: 0 }
  for (;;) {
    const page = await store.in(NS).timeline(runId, { ...position, limit })
    expect(page.frames.length).toBeLessThanOrEqual(limit)
    if (page.more) expect(page.frames).toHaveLength(limit)
    expect(page.openFrom).toBeGreaterThanOrEqual(position.openFrom)
    frames.push(...page.frames)
    position.after = page.frames.at(-1)?.seq ?? position.after
    position.openFrom = page.openFrom
    if (!page.more) break
  }
  expect(await status(store, runId)).toEqual(frames.filter(({ kind }) => kind === 'run_status').at(-1))
  return frames
}

/** The frame of the run's current status, read alone. */
async function status(store: Store, runId: string): Promise<StoredFrame | undefined> {
  const read = await store.in(NS).status(runId)
  if (!read) return undefined
  const { workflow, app, ...frame } = read
  expect(await store.in(NS).run(runId)).toMatchObject({ workflow, app })
  return { kind: 'run_status', runId, ...frame, ts: at(frame.ts) }
}

const at = (ms: number) => new Date(ms).toISOString()

function runFrame(run: Run, seq: number, status: Run['status'], ts: number, attempt = 1): StoredFrame {
  return { kind: 'run_status', seq, ts: at(ts), runId: run.id, status, attempt }
}

function stepFrame(step: Step, ts: number): StoredFrame {
  const { runId, seq, name, status, attempt, index, error } = step
  return {
    kind: 'step_status',
    seq,
    ts: at(ts),
    runId,
    name,
    status,
    attempt,
    index,
    ...(error ? { error } : {}),
  }
}

export function timelineContract(open: OpenStore): void {
  describe('timeline', () => {
    const store = eachStore(open)

    it('is empty for a run that does not exist', async () => {
      const page = await store().in(NS).timeline('run_none', { after: 0, limit: 10, openFrom: 0 })
      expect(page).toEqual({ frames: [], openFrom: 0, more: false })
      expect(await store().in(NS).status('run_none')).toBeUndefined()
    })

    it('has creation, first start and end from the run itself', async () => {
      const run = aRun()
      await write(store(), created(run))
      expect(await read(store(), run.id)).toEqual([runFrame(run, 1, 'queued', NOW)])
      const started = { ...run, status: 'running' as const, startedAt: NOW + 5, startedSeq: firstSeq(1) }
      await write(store(), { type: 'run.moved', run: { ...started, fence: 1, attempt: 3 }, frames: [] })
      const ended: Run = {
        ...started,
        status: 'failed',
        attempt: 3,
        finishedAt: NOW + 9,
        finishedSeq: firstSeq(1) + 4,
      }
      await write(store(), { type: 'run.moved', run: ended, frames: [] })
      expect(await read(store(), run.id)).toEqual([
        runFrame(run, 1, 'queued', NOW),
        runFrame(run, firstSeq(1), 'running', NOW + 5),
        runFrame(run, firstSeq(1) + 4, 'failed', NOW + 9, 3),
      ])
    })

    it('has the moves in between from rows of their own', async () => {
      const run = aLeasedRun()
      await write(store(), created(run), {
        type: 'run.moved',
        run: { ...run, status: 'paused' },
        frames: [
          { seq: 5, ts: NOW + 5, status: 'waiting', attempt: 1 },
          { seq: 6, ts: NOW + 6, status: 'paused', attempt: 2 },
        ],
      })
      expect((await read(store(), run.id)).slice(2)).toEqual([
        runFrame(run, 5, 'waiting', NOW + 5),
        runFrame(run, 6, 'paused', NOW + 6, 2),
      ])
    })

    it('has the errors of moves, and that of the end from the run, cut', async () => {
      const error = { message: 'm'.repeat(2000), name: 'E', stack: 's'.repeat(9000), code: 'handler_failed' as const }
      const cut = { ...error, message: `${'m'.repeat(1000)}…`, stack: `${'s'.repeat(8000)}…` }
      const run = aLeasedRun()
      const frame = { seq: 5, ts: NOW + 5, status: 'waiting' as const, attempt: 2, error: cut }
      const ended: Run = { ...run, status: 'failed', attempt: 2, finishedAt: NOW + 9, finishedSeq: 7, error }
      await write(store(), created(run), { type: 'run.moved', run: ended, frames: [frame] })
      expect((await read(store(), run.id)).flatMap(it => ('error' in it ? [it.error] : []))).toEqual([cut, cut])
    })

    it('has every status of a step that settles twice, for a reader that has passed it too', async () => {
      const run = aLeasedRun()
      const spent = { attempt: 2, spentAt: 2, startedAt: NOW + 1, error: { message: 'no' } }
      const failed = aStep(run, { ...spent, seq: 3, status: 'failed', finishedAt: NOW + 2, data: undefined })
      const after = aStep(run, { index: 1, seq: 4, startedAt: NOW + 2, finishedAt: NOW + 3 })
      await write(store(), created(run, failed, after))
      const reader = await store().in(NS).timeline(run.id, { after: 0, limit: 1000, openFrom: 0 })
      expect(reader.frames.slice(2)).toEqual([stepFrame(failed, NOW + 2), stepFrame(after, NOW + 3)])
      const again: Step = { ...failed, seq: 5, status: 'retrying', nextAttemptAt: NOW + 5, finishedAt: undefined }
      const done: Step = { ...again, seq: 6, attempt: 3, status: 'succeeded', data: '1', finishedAt: NOW + 7 }
      await write(store(), { type: 'step.moved', step: again, at: NOW + 5 }, { type: 'step.moved', step: done })
      const frames = [stepFrame(again, NOW + 5), stepFrame(done, NOW + 7)]
      expect((await read(store(), run.id)).slice(2)).toEqual([...reader.frames.slice(2), ...frames])
      const news = await store()
        .in(NS)
        .timeline(run.id, { ...reader, after: 4, limit: 1000 })
      expect(news.frames).toEqual(frames)
    })

    it('has a settled step once, with its error', async () => {
      const run = aLeasedRun()
      const well = aStep(run, { seq: 3 })
      const failed = aStep(run, {
        index: 1,
        seq: 4,
        status: 'failed',
        attempt: 2,
        error: { message: 'no', stack: 's' },
      })
      const cancelled = aStep(run, { index: 2, seq: 5, status: 'cancelled', data: undefined })
      await write(store(), created(run, well, failed, cancelled))
      expect((await read(store(), run.id)).slice(2)).toEqual([
        stepFrame(well, NOW + 20),
        stepFrame(failed, NOW + 21),
        stepFrame(cancelled, NOW + 22),
      ])
    })

    it('keeps the frames of every status a step has had', async () => {
      const run = aLeasedRun()
      const retrying = aStep(run, {
        seq: 3,
        status: 'retrying',
        finishedAt: undefined,
        data: undefined,
        ...{ error: { message: 'once' }, maxAttempts: 5 },
        nextAttemptAt: NOW + 99,
      })
      const again = { ...retrying, seq: 7, attempt: 2, error: { message: 'twice' } }
      const done = {
        ...again,
        seq: 9,
        attempt: 3,
        status: 'succeeded' as const,
        error: undefined,
        finishedAt: NOW + 50,
      }
      const waiting = aWait(run, { index: 1, seq: 4 })
      const cancelled = { ...waiting, seq: 10, status: 'cancelled' as const, finishedAt: NOW + 60 }
      await write(store(), created(run, retrying, waiting))
      await write(store(), { type: 'step.moved', step: again })
      await write(store(), { type: 'step.moved', step: done })
      await write(store(), { type: 'step.moved', step: cancelled })
      const frames = (await read(store(), run.id)).slice(2)
      expect(frames.map(({ seq }) => seq)).toEqual([3, 4, 7, 9, 10])
      expect(frames).toMatchObject([
        { name: 'step 0', status: 'retrying', attempt: 1, maxAttempts: 5, index: 0, error: { message: 'once' } },
        { name: 'wait', status: 'waiting', attempt: 1, index: 1, ts: at(NOW + 10) },
        { name: 'step 0', status: 'retrying', attempt: 2, index: 0, error: { message: 'twice' } },
        { name: 'step 0', status: 'succeeded', attempt: 3, maxAttempts: 5, index: 0, ts: at(NOW + 50) },
        { name: 'wait', status: 'cancelled', index: 1, ts: at(NOW + 60) },
      ])
      expect(frames[3]).not.toHaveProperty('error')
    })

    it('dates a status that is not final by the time the step reached it, or by its start', async () => {
      const run = aLeasedRun()
      const retrying = aStep(run, { seq: 3, status: 'retrying', finishedAt: undefined, data: undefined })
      const waiting = aWait(run, { index: 1, seq: 5 })
      await write(
        store(),
        created(run),
        { type: 'step.recorded', step: retrying, at: NOW + 40 },
        { type: 'step.moved', step: { ...retrying, seq: 4, attempt: 2 }, at: NOW + 50 },
        { type: 'step.recorded', step: waiting },
      )
      const frames = (await read(store(), run.id)).slice(2)
      expect(frames.map(({ ts }) => ts)).toEqual([at(NOW + 40), at(NOW + 50), at(NOW + 10)])
    })

    it('has log lines, with their fields exactly', async () => {
      const run = aLeasedRun()
      const plain = aLine(run, { seq: 3 })
      const rich = aLine(run, {
        index: 1,
        seq: 4,
        level: 'warn',
        fields: '{"a":{"b":[1.50]}}',
        scope: 'charge',
        attempt: 2,
      })
      await write(
        store(),
        created(run),
        [plain, rich].map(line => ({ type: 'log.written' as const, line })),
      )
      const told = { kind: 'log', ts: at(NOW + 30), runId: run.id }
      expect((await read(store(), run.id)).slice(2)).toEqual([
        { ...told, seq: 3, level: 'info', message: 'line 0', scope: '@root', attempt: 1 },
        {
          ...told,
          seq: 4,
          level: 'warn',
          message: 'line 1',
          scope: 'charge',
          attempt: 2,
          fields: '{"a":{"b":[1.50]}}',
        },
      ])
    })

    it('has a woken step, and the run that it queues, in the range of the next fence', async () => {
      const run = aParkedRun({ fence: 3 })
      const wait = aWait(run, { seq: firstSeq(3) })
      await write(store(), created(run, wait))
      await write(store(), {
        type: 'step.woken',
        runId: run.id,
        stepIndex: 0,
        status: 'succeeded',
        data: '1',
        at: NOW + 70,
      })
      expect((await read(store(), run.id)).slice(-2)).toEqual([
        stepFrame({ ...wait, seq: firstSeq(4), status: 'succeeded' }, NOW + 70),
        runFrame(run, firstSeq(4) + 1, 'queued', NOW + 70),
      ])
    })

    it('has carried steps at the seqs they were given', async () => {
      const run = aRun({ replayOf: 'run_a' })
      const steps = [2, 3, 4].map((seq, index) => aStep(run, { index, seq, carried: true }))
      await write(store(), created(run, ...steps))
      expect((await read(store(), run.id)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
    })

    it('starts behind any seq', async () => {
      const run = aLeasedRun()
      await write(store(), created(run, aStep(run, { seq: 3 }), aStep(run, { index: 1, seq: 4 })))
      const seqsAfter = async (seq: number) =>
        (await store().in(NS).timeline(run.id, { after: seq, limit: 10, openFrom: 0 })).frames.map(frame => frame.seq)
      expect(await seqsAfter(1)).toEqual([2, 3, 4])
      expect(await seqsAfter(2)).toEqual([3, 4])
      expect(await seqsAfter(3)).toEqual([4])
      expect(await seqsAfter(4)).toEqual([])
      expect(await seqsAfter(Number.MAX_SAFE_INTEGER)).toEqual([])
    })

    it('says from which step on to look next', async () => {
      const run = aLeasedRun()
      const settled = [0, 1].map(index => aStep(run, { index, seq: 10 + index }))
      const waiting = aWait(run, { index: 2, seq: 12 })
      const early = aStep(run, { index: 3, seq: 13 })
      await write(store(), created(run, ...settled, waiting, early))
      const page = (after: number, limit: number) => store().in(NS).timeline(run.id, { after, limit, openFrom: 0 })
      expect(await page(0, 2)).toMatchObject({ openFrom: 0, more: true })
      expect(await page(2, 4)).toMatchObject({ openFrom: 0, more: false })
      expect(await page(10, 1)).toMatchObject({ openFrom: 1, more: true })
      // Step 2 has a frame for its wait, and will get more.
      expect(await page(13, 4)).toMatchObject({ openFrom: 2, more: false })
      await write(store(), {
        type: 'step.moved',
        step: { ...waiting, seq: 14, status: 'succeeded', finishedAt: NOW },
      })
      expect(await page(13, 1)).toMatchObject({ openFrom: 2, more: false })
      expect(await page(14, 1)).toMatchObject({ openFrom: 4, more: false })
    })

    it('finds the late end of an early step, and the steps behind, from a held position', async () => {
      const run = aLeasedRun()
      const slow = aWait(run, { seq: 3 })
      await write(store(), created(run, slow, ...[1, 2, 3].map(index => aStep(run, { index, seq: 3 + index }))))
      const first = await store().in(NS).timeline(run.id, { after: 0, limit: 100, openFrom: 0 })
      expect(first.openFrom).toBe(0)
      await write(
        store(),
        { type: 'step.moved', step: { ...slow, seq: 7, status: 'succeeded', finishedAt: NOW } },
        { type: 'step.recorded', step: aStep(run, { index: 4, seq: 8 }) },
      )
      const next = await store().in(NS).timeline(run.id, { after: 6, limit: 100, openFrom: first.openFrom })
      expect(next.frames.map(({ seq }) => seq)).toEqual([7, 8])
      expect(next.openFrom).toBe(0)
      await write(store(), { type: 'step.recorded', step: aStep(run, { index: 5, seq: 9 }) })
      const last = await store().in(NS).timeline(run.id, { after: 8, limit: 100, openFrom: next.openFrom })
      expect(last.frames.map(({ seq }) => seq)).toEqual([9])
      expect(last.openFrom).toBe(5)
    })

    it('is the same in pages of any size, for any history', async () => {
      const check = fc.asyncProperty(
        fc.array(fc.nat(4), { maxLength: 25 }),
        fc.integer({ min: 1, max: 7 }),
        async (moves, limit) => {
          const run = aLeasedRun()
          await write(store(), created(run))
          const told = [1, 2]
          const open: Step[] = []
          let [seq, index] = [2, 0]
          for (const move of moves) {
            told.push(++seq)
            const parked = open[0]
            if (move === 0) await write(store(), { type: 'step.recorded', step: aStep(run, { index: index++, seq }) })
            else if (move === 1) {
              open.push(aWait(run, { index: index++, seq }))
              await write(store(), { type: 'step.recorded', step: open.at(-1) as Step })
            } else if (move === 2 && parked) {
              open.shift()
              await write(store(), {
                type: 'step.moved',
                step: { ...parked, seq, status: 'failed', finishedAt: NOW },
              })
            } else if (move === 3) await write(store(), { type: 'log.written', line: aLine(run, { index: seq, seq }) })
            else {
              const frames = [{ seq, ts: NOW, status: 'queued' as const, attempt: 1 }]
              await write(store(), { type: 'run.moved', run, frames })
            }
          }
          expect((await read(store(), run.id, limit)).map(frame => frame.seq)).toEqual(told)
          // A reader that follows the tail, one commit at a time, gets the same frames.
          expect(await read(store(), run.id, limit)).toEqual(await read(store(), run.id))
        },
      )
      await fc.assert(check, { numRuns: 15 })
    })

    it('never shows a frame before one with a lower seq', async () => {
      const run = aLeasedRun()
      await write(store(), created(run))
      const seen: number[] = []
      const position = { after: 0, openFrom: 0 }
      let writing = true
      const writer = (async () => {
        for (let i = 0; i < 60; i++) {
          const seq = 3 + i * 3
          await store().commit({
            guards: [fenceOf(run)],
            changes: [
              { type: 'run.moved', run, frames: [{ seq, ts: NOW, status: 'queued', attempt: 1 }] },
              { type: 'log.written', line: aLine(run, { index: i, seq: seq + 1 }) },
              { type: 'step.recorded', step: aStep(run, { index: i, seq: seq + 2 }) },
            ],
          })
        }
        writing = false
      })()
      for (let last = false; !last; ) {
        last = !writing
        const page = await store()
          .in(NS)
          .timeline(run.id, { ...position, limit: 7 })
        seen.push(...page.frames.map(({ seq }) => seq))
        position.after = seen.at(-1) ?? 0
        position.openFrom = page.openFrom
        if (page.more) last = false
      }
      await writer
      expect(seen).toEqual(Array.from({ length: 182 }, (_, i) => i + 1))
    })
  })
}

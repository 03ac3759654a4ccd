import { describe, expect, it } from 'vitest'
import type { RunStatusFrame } from '../model/change.ts'
import { firstSeq } from '../model/seq.ts'
import { given, givenLoaded } from '../testkit/given.testkit.ts'
import { NOW, run } from '../testkit/nouns.testkit.ts'
import { statusFrames } from './timeline-frames.ts'

const told = (frames: RunStatusFrame[]) => frames.map(({ status }) => status)

describe('a created run', () => {
  const created = run({ status: 'queued', startedAt: undefined, startedSeq: undefined })

  it('is queued', () => {
    expect(statusFrames({ type: 'run.created', run: created })).toEqual([
      { seq: firstSeq(0), ts: created.createdAt, status: 'queued', attempt: 1 },
    ])
  })

  it('and running, when it was leased as it was created', () => {
    const leased = { ...created, status: 'running' as const, startedAt: NOW + 1, startedSeq: firstSeq(0) + 1 }
    expect(statusFrames({ type: 'run.created', run: leased })).toEqual([
      { seq: firstSeq(0), ts: created.createdAt, status: 'queued', attempt: 1 },
      { seq: firstSeq(0) + 1, ts: NOW + 1, status: 'running', attempt: 1 },
    ])
  })
})

describe('a move', () => {
  it('has the first start once, and not again when the run moves later', () => {
    const fresh = given(run({ status: 'queued', startedAt: undefined, startedSeq: undefined }))
    const [begun] = fresh.whenLeased().changes('run.moved')
    expect(told(statusFrames(begun as never))).toEqual(['running'])
    const [back] = given(run()).whenGivenBack().changes('run.moved')
    expect(told(statusFrames(back as never))).toEqual(['queued'])
  })

  it('has the end last', () => {
    const [cancelled] = givenLoaded(run()).whenCancelled().changes('run.moved')
    expect(told(statusFrames(cancelled as never))).toEqual(['cancelled'])
    expect(statusFrames(cancelled as never)[0]).toMatchObject({
      seq: cancelled?.run.finishedSeq,
      ts: cancelled?.run.finishedAt,
    })
  })
})

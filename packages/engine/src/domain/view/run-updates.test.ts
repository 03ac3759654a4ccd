import { describe, expect, test } from 'vitest'
import type { Change } from '../model/change.ts'
import type { Step } from '../model/step.ts'
import { NOW, run, SECOND, succeeded } from '../testkit/nouns.testkit.ts'
import { runUpdates } from './run-updates.ts'

const moved = (fields: Parameters<typeof run>[0] = {}, frames: { seq: number; status: 'waiting' }[] = []): Change => ({
  type: 'run.moved',
  run: run(fields),
  frames: frames.map(frame => ({ ...frame, ts: NOW, attempt: 1 })),
})
const recorded = ({ name, ...fields }: Partial<Step> & Pick<Step, 'index' | 'seq' | 'name'>): Change => ({
  type: 'step.recorded',
  step: { runId: 'run_1', ...succeeded(name), ...fields },
})

describe('the update of a run', () => {
  test('is its last status in the unit, with the names and times of a list', () => {
    expect(runUpdates([moved({ status: 'waiting' }, [{ seq: 7, status: 'waiting' }])])).toEqual([
      {
        runId: 'run_1',
        workflow: 'order',
        app: 'shop',
        seq: 7,
        ts: NOW,
        status: 'waiting',
        attempt: 1,
        startedAt: NOW - 60 * SECOND,
      },
    ])
  })

  test('comes with a step alone, too, and names the newest open step, else the newest', () => {
    const [a, b, c] = [
      recorded({ index: 1, name: 'a', status: 'succeeded', seq: 5, finishedAt: NOW }),
      recorded({ index: 2, name: 'b', status: 'waiting', seq: 6 }),
      recorded({ index: 3, name: 'c', status: 'succeeded', seq: 7, finishedAt: NOW }),
    ]
    const name = (...changes: Change[]) => runUpdates([...changes, moved()])[0]?.currentStepName
    expect([name(a, b, c), name(a, c), name(c, a)]).toEqual(['b', 'c', 'c'])
    expect(runUpdates([a, moved()])).toMatchObject([{ seq: 5, ts: NOW, status: 'running' }])
  })

  test('has the duration of an ended run, and its error cut to 200 code points without a stack', () => {
    const error = { message: '😀'.repeat(300), stack: 'at x', code: 'step_failed', stepName: 'a' } as const
    const [update] = runUpdates([moved({ status: 'failed', finishedAt: NOW, finishedSeq: 9, error })])
    expect(update).toMatchObject({ status: 'failed', seq: 9, durationMs: 60 * SECOND })
    expect(update?.currentStepName).toBe('a')
    expect(update?.error).toEqual({ message: '😀'.repeat(200), code: 'step_failed', stepName: 'a' })
  })

  test('of a step that comes without its run is the last one with the step', () => {
    const [last] = runUpdates([moved({}, [{ seq: 4, status: 'waiting' }])])
    const step = recorded({ index: 1, name: 'a', status: 'succeeded', seq: 5, finishedAt: NOW + SECOND })
    expect(runUpdates([step], () => last)).toEqual([{ ...last, seq: 5, ts: NOW + SECOND, currentStepName: 'a' }])
    expect(runUpdates([step])).toEqual([])
  })

  test('is absent where neither status nor steps changed', () => {
    expect(runUpdates([moved()])).toEqual([])
  })
})

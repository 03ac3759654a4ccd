import { type TestEngine, testEngine } from 'perdure/testing'
import { expect, test } from 'vitest'
import { importExport, POLLS_PER_RUN } from './importer.ts'

/** Makes the other service answer `pending` this many times, and then the end. Returns the times of the requests. */
function answerAfter(pending: number, end: 'ready' | 'broken', engine: TestEngine): Date[] {
  const asked: Date[] = []
  engine.mock('poll', () => ({ state: asked.push(engine.now()) > pending ? end : 'pending' }))
  return asked
}

test('it asks less and less often, at most every half hour', async () => {
  await using engine = await testEngine([importExport])
  const asked = answerAfter(11, 'ready', engine)
  const run = await engine.start(importExport, { exportId: 'x-1' })

  expect(await run.result({ within: '2h' })).toEqual({ status: 'imported', rows: 3, polls: 12 })
  const pauses = asked.slice(1).map((at, index) => Math.round((at.getTime() - asked[index]!.getTime()) / 1000))
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 1800, 1800])
})

test('every twenty questions it continues as another run, which goes on counting', async () => {
  await using engine = await testEngine([importExport])
  answerAfter(49, 'ready', engine)
  const run = await engine.start(importExport, { exportId: 'x-2' })

  expect(await run.result({ within: '1d' })).toEqual({ status: 'imported', rows: 3, polls: 50 })
  const runs = await engine.runs({ workflow: importExport })
  expect(runs.map(each => each.executions('poll'))).toEqual([POLLS_PER_RUN, POLLS_PER_RUN, 10])
  expect((await runs[0]!.read()).continuedAs).toBe(runs[1]!.id)
})

test('the deadline counts from the first run of the chain', async () => {
  await using engine = await testEngine([importExport])
  answerAfter(Number.POSITIVE_INFINITY, 'ready', engine)
  const startedMs = engine.now().getTime()
  const run = await engine.start(importExport, { exportId: 'x-3' })

  expect(await run.result({ within: '2d' })).toMatchObject({ status: 'too late' })
  const hours = (engine.now().getTime() - startedMs) / 3_600_000
  expect(hours).toBeLessThanOrEqual(24)
  expect(hours).toBeGreaterThan(23.5)
})

test('an export that is broken fails the run that learned of it', async () => {
  await using engine = await testEngine([importExport])
  answerAfter(2, 'broken', engine)
  const run = await engine.start(importExport, { exportId: 'x-4' })

  expect((await run.failure({ within: '1h' })).message).toBe('export x-4 is broken')
})

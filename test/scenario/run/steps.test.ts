// The steps of a run in pages and in short form, and one step with its attempts (docs/http-api/runs.md#get-runsidsteps).

import type { StepDetail, StepRecord } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { flow, run, StepFailure, scenario, skipWait, sleep, stepId, waitsFor } from '../../kit/index.ts'

const { api, clock, start } = await scenario()

const fail = (times: number) => {
  let left = times
  return () => {
    if (left-- > 0) throw new StepFailure(`no ${left}`)
    return { done: true }
  }
}

async function ended(): Promise<string> {
  const boom = () => {
    throw new StepFailure('b'.repeat(300), { retriable: false })
  }
  const names = ['a', 'b', 'B2', 'c', 'd']
  const { runId } = await start(
    flow(names.map(name => run(name, name === 'b' ? boom : () => name, { catchable: true }))),
  )
  await api.succeeded(runId)
  return runId
}

async function page(runId: string, query: string) {
  const { status, json, headers } = await api.get(`/runs/${runId}/steps?${query}`)
  expect(status).toBe(200)
  const steps = json as StepRecord[]
  return { steps, names: steps.map(({ name }) => name), next: headers.get('x-next-cursor') }
}

test('pages follow each other by cursor, and contain every step once', async () => {
  const id = await ended()
  const first = await page(id, 'limit=2')
  const second = await page(id, `limit=2&cursor=${first.next}`)
  const rest = await page(id, `cursor=${second.next}`)
  expect([first.names, second.names, rest.names]).toEqual([['a', 'b'], ['B2', 'c'], ['d']])
  expect(rest.next).toBeNull()
  expect((await page(id, '')).names).toHaveLength(5)
  for (const wrong of [`limit=2&q=x&cursor=${first.next}`, 'cursor=x'])
    expect(await api.get(`/runs/${id}/steps?${wrong}`)).toMatchObject({ status: 400, code: 'invalid_cursor' })
  const other = await ended()
  expect(await api.get(`/runs/${other}/steps?cursor=${first.next}`)).toMatchObject({ code: 'invalid_cursor' })
})

test('filters by status and name, and the summary leaves out what is long', async () => {
  const id = await ended()
  expect((await page(id, 'status=failed,retrying')).names).toEqual(['b'])
  expect((await page(id, 'q=B')).names).toEqual(['b', 'B2'])
  const [b] = (await page(id, 'status=failed&fields=summary')).steps
  expect(b?.error).toEqual({ message: 'b'.repeat(200), name: expect.any(String) })
  const { steps } = await page(id, 'fields=summary')
  expect(steps.filter(step => 'data' in step)).toEqual([])
  for (const [query, field] of [
    ['status=done', 'status'],
    ['fields=some', 'fields'],
    ['limit=x', 'limit'],
    [`q=${'x'.repeat(257)}`, 'q'],
  ]) {
    const { status, json } = await api.get(`/runs/${id}/steps?${query}`)
    expect([status, json]).toMatchObject([400, { error: { code: 'invalid_request', details: { field } } }])
  }
})

test('a page has at most 200 steps; without their results, 2,000', async () => {
  const { runId } = await start(flow([Array.from({ length: 2001 }, (_, i) => run(`s${i}`))]))
  await api.succeeded(runId)
  expect(await api.steps(runId)).toHaveLength(2001)
  const sizes = await Promise.all(['', '&fields=all', '&fields=summary'].map(more => page(runId, `limit=9999${more}`)))
  expect(sizes.map(({ names }) => names.length)).toEqual([200, 200, 2000])
  const [whole, , short] = sizes
  expect((await page(runId, `cursor=${whole?.next}`)).names.slice(0, 2)).toEqual(['s200', 's201'])
  expect((await page(runId, `fields=summary&cursor=${short?.next}`)).names).toEqual(['s2000'])
})

test('one step has its attempts; a step or a run that is not there is 404', async () => {
  const { runId } = await start(flow([run('flaky', fail(2)), sleep('nap', 1000)]), {
    registration: { retry: { maxAttempts: 4 } },
  })
  for (let i = 0; i < 2; i++) await skipWait(api, clock, runId, 'retry')
  await waitsFor(api, runId, 'sleep')
  const { json } = await api.get(`/runs/${runId}/steps/${stepId('flaky')}`)
  const { attempts, ...step } = json as StepDetail
  expect(step).toEqual((await api.steps(runId))[0])
  expect(attempts).toMatchObject([
    { attempt: 1, status: 'failed', error: { message: 'no 1' } },
    { attempt: 2, status: 'failed', error: { message: 'no 0' } },
    { attempt: 3, status: 'succeeded', endedAt: step.finishedAt },
  ])
  expect((await api.get(`/runs/${runId}/steps/${stepId('nap')}`)).json).toMatchObject({
    status: 'waiting',
    attempts: [],
  })
  expect(await api.get(`/runs/${runId}/steps/none`)).toMatchObject({ status: 404, code: 'step_not_found' })
  for (const path of [`run_none/steps/${stepId('nap')}`, `${runId}/steps/${'x'.repeat(1100)}`])
    expect(await api.get(`/runs/${path}`)).toMatchObject({ status: 404, code: 'not_found' })
})

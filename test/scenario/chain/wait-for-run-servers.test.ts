// Steps that wait for the ends of other runs, on both databases (docs/steps.md#waiting-for-runs).

import { describe, expect, test } from 'vitest'
import {
  type Api,
  apiKeys,
  flow,
  freshSchema,
  type Handler,
  keyOf,
  type OpenEngine,
  openEngines,
  openKeyed,
  openRunner,
  run,
  STORES,
  StepFailure,
  sleep,
  step,
  unique,
  until,
} from '../../kit/index.ts'

const FEATURES = { features: ['wait-for-run', 'continue-as'] }
const HOUR = 3_600_000

const waitForRun = (name: string, runId: string, timeoutMs?: number) => step('WaitForRun', name, { runId, timeoutMs })
/** Waits for the run that its data names. */
const waiter: Handler = (invoke, pass) => {
  const { runId, timeoutMs } = invoke.event.data as { runId: string; timeoutMs?: number }
  return flow([waitForRun('report', runId, timeoutMs)], ({ report }) => report)(invoke, pass)
}

describe.each(STORES)('on %s', async (_, freshStore) => {
  const { api } = await openKeyed(freshStore)

  async function open(target: Handler) {
    const [name, waits] = [unique('target'), unique('waiter')]
    const runner = await openRunner({ workflows: { [name]: target, [waits]: waiter } })
    await runner.register(api, FEATURES)
    const { runId } = await api.send({ name })
    const wait = async (data: object = {}) => (await api.send({ name: waits, data: { runId, ...data } })).runId
    return { name, waits, runner, runId, wait }
  }

  const open1h = () => open(flow([sleep('nap', HOUR)]))

  /** Ends the nap of a run once it naps. */
  async function settle(runId: string): Promise<void> {
    await api.reaches(runId, 'waiting')
    const answer = await api.post(`/runs/${runId}/steps/nap/settle`, { data: 'woken', reason: 'test' })
    expect(answer.status, answer.text).toBe(200)
  }

  test('a parked wait shows its run, and gets the end of it', async () => {
    const { runId, wait } = await open1h()
    const id = await wait()
    const parked = await api.reaches(id, 'waiting')
    expect(parked.waitingFor).toEqual({ kind: 'run', stepName: 'report', runId })
    expect(await api.step(id, 'report')).toMatchObject({ op: 'WaitForRun', awaitedRunId: runId })
    const { sentence } = (await api.get(`/runs/${id}/why`)).json as { sentence: string }
    expect(sentence).toContain(`waits for the end of run ${runId}, which is waiting`)
    await settle(runId)
    expect((await api.succeeded(id)).result).toEqual({ runId, status: 'succeeded', result: { nap: 'woken' } })
  })

  test('a run that has ended answers at once, and one that failed gives its error', async () => {
    const { runId, wait } = await open(
      flow([run('a', () => Promise.reject(new StepFailure('no paper', { retriable: false })))]),
    )
    await api.failed(runId)
    const { result } = await api.succeeded(await wait())
    expect(result).toMatchObject({ runId, status: 'failed', error: { message: expect.stringContaining('no paper') } })
  })

  test('a cancel of the run ends the wait, and a cancel of the waiter its step', async () => {
    const { runId, wait } = await open1h()
    const [kept, given] = [await wait(), await wait()]
    for (const id of [kept, given]) await api.reaches(id, 'waiting')
    await api.post(`/runs/${given}/cancel`, {})
    expect(await api.step(given, 'report')).toMatchObject({ status: 'cancelled' })
    await api.post(`/runs/${runId}/cancel`, {})
    expect((await api.succeeded(kept)).result).toEqual({ runId, status: 'cancelled' })
    expect(await api.run(given)).toMatchObject({ status: 'cancelled' })
  })

  test('a timeout gives null', async () => {
    const { wait } = await open1h()
    const id = await wait({ timeoutMs: 50 })
    expect((await api.succeeded(id)).result).toBeNull()
    expect(await api.step(id, 'report')).toMatchObject({ timedOut: true })
  })

  test('a paused waiter gets the end while it is paused', async () => {
    const { runId, wait } = await open1h()
    const id = await wait()
    await api.reaches(id, 'waiting')
    await api.post(`/runs/${id}/pause`, {})
    await settle(runId)
    await until(async () => (await api.step(id, 'report')).status === 'succeeded' || undefined)
    expect((await api.run(id)).status).toBe('paused')
    await api.post(`/runs/${id}/resume`, {})
    expect((await api.succeeded(id)).result).toMatchObject({ runId, status: 'succeeded' })
  })

  test('a wait can be settled by hand, and a retry from it waits again, also for a run that is gone', async () => {
    const { runId, wait } = await open1h()
    const id = await wait()
    await api.reaches(id, 'waiting')
    expect((await api.post(`/runs/${id}/steps/report/settle`, { data: 'by hand', reason: 'test' })).status).toBe(200)
    expect((await api.succeeded(id)).result).toBe('by hand')
    await settle(runId)
    await api.succeeded(runId)
    const again = async () => {
      const { json } = await api.post(`/runs/${id}/retry-from-step`, { step: 'report' })
      return api.succeeded((json as { id: string }).id)
    }
    expect((await again()).result).toMatchObject({ runId, status: 'succeeded' })
    expect((await api.request('DELETE', `/runs/${runId}`)).status).toBe(204)
    expect(await api.step((await again()).id, 'report')).toMatchObject({ status: 'failed' })
  })

  test('a retry from a step after the wait keeps the end, a replay waits again', async () => {
    const [target, after] = [unique('target'), unique('after')]
    const attempts = { count: 0 }
    const last = run('print', () => {
      if (attempts.count++ === 0) throw new StepFailure('no paper', { retriable: false })
      return 'printed'
    })
    const handler: Handler = (invoke, pass) =>
      flow([waitForRun('report', (invoke.event.data as { runId: string }).runId), last], ({ report, print }) => [
        report,
        print,
      ])(invoke, pass)
    const runner = await openRunner({ workflows: { [target]: flow([sleep('nap', HOUR)]), [after]: handler } })
    await runner.register(api, FEATURES)
    const { runId } = await api.send({ name: target })
    const { runId: id } = await api.send({ name: after, data: { runId } })
    await api.reaches(id, 'waiting')
    await settle(runId)
    expect((await api.failed(id)).error).toMatchObject({ stepName: 'print' })
    const end = { runId, status: 'succeeded', result: { nap: 'woken' } }
    // The awaited run is gone: only a wait that is not carried would notice.
    expect((await api.request('DELETE', `/runs/${runId}`)).status).toBe(204)
    const retried = (await api.post(`/runs/${id}/retry-from-step`, { step: 'print' })).json as { id: string }
    expect((await api.succeeded(retried.id)).result).toEqual([end, 'printed'])
    const { runId: other } = await api.send({ name: target })
    const replayed = (await api.post(`/runs/${id}/replay`, { input: { runId: other } })).json as { id: string }
    await api.reaches(replayed.id, 'waiting')
    await settle(other)
    expect((await api.succeeded(replayed.id)).result).toEqual([{ ...end, runId: other }, 'printed'])
  })

  test('an unknown run fails the step, catchable', async () => {
    const { wait } = await open1h()
    const id = await wait({ runId: 'run_nobody' })
    await api.succeeded(id)
    expect(await api.step(id, 'report')).toMatchObject({ status: 'failed', error: { name: 'RunNotFoundError' } })
  })

  test('a run that continues is followed to the end of its chain', async () => {
    const { wait, runId } = await open((invoke, pass) => {
      if (invoke.event.data === 'last') return flow([sleep('nap', HOUR)])(invoke, pass)
      const done = flow([sleep('nap', HOUR)])(invoke, pass)
      return invoke.steps && Object.values(invoke.steps).some(entry => 'data' in entry)
        ? { status: 200, body: { continueAs: { data: 'last' }, logs: [] } }
        : done
    })
    const id = await wait()
    await api.reaches(id, 'waiting')
    await settle(runId)
    const last = await until(async () => (await api.run(runId)).continuedAs)
    await api.reaches(last, 'waiting')
    expect((await api.run(id)).status).toBe('waiting')
    await settle(last)
    expect((await api.succeeded(id)).result).toEqual({ runId: last, status: 'succeeded', result: { nap: 'woken' } })
  })

  test('waits that meet the end of the run all get it', async () => {
    const { waits, runId } = await open1h()
    await api.reaches(runId, 'waiting')
    const sends = Array.from({ length: 60 }, () => api.send({ name: waits, data: { runId } }))
    await Promise.all([...sends.slice(0, 30), settle(runId)])
    for (const { runId: id } of await Promise.all(sends)) {
      expect((await api.succeeded(id)).result).toMatchObject({ runId, status: 'succeeded' })
    }
  })
})

test('two engines settle the waits of each other, and tell nothing of a run of another namespace', async () => {
  const env = { ENGINE_API_KEYS: apiKeys('secret', 'secret of other') }
  const { engines } = await openEngines(freshSchema, 2, { env })
  const [one, two] = engines.map(({ api }) => api.as(keyOf('secret'))) as [Api, Api]
  const foreign = (engines[0] as OpenEngine).api.as(keyOf('secret', 'other'))
  const [name, waits] = [unique('target'), unique('waiter')]
  for (const api of [one, foreign]) {
    const runner = await openRunner({ workflows: { [name]: flow([sleep('nap', 300)]), [waits]: waiter } })
    await runner.register(api, FEATURES)
  }
  const targets = await Promise.all(Array.from({ length: 30 }, (_, i) => (i % 2 ? one : two).send({ name })))
  const sent = await Promise.all(
    targets.map(async ({ runId }, i) => ({
      runId,
      id: (await (i % 3 ? one : two).send({ name: waits, data: { runId } })).runId,
    })),
  )
  const { runId: stranger } = await foreign.send({ name: waits, data: { runId: targets[0]?.runId } })
  const { runId: lost } = await foreign.send({ name: waits, data: { runId: 'run_none' } })
  for (const { id, runId } of sent)
    expect((await one.succeeded(id)).result).toMatchObject({ runId, status: 'succeeded' })
  for (const id of [stranger, lost])
    expect((await foreign.succeeded(id)).result).toMatchObject({
      error: { name: 'RunNotFoundError', code: 'not_found' },
    })
})

// Cleanup runs together with other operations, on both databases (docs/concepts.md#cleanup-runs): erasing and forks of the run
// that they follow, bulk cancels, kept slots, runners without the feature, and statistics.

import type { BulkDetail, RunSummary, WorkflowStats } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  flow,
  gate,
  type Handler,
  openKeyed,
  returned,
  run,
  STORES,
  undoing,
  until,
  wait,
  waitsFor,
} from '../../kit/index.ts'
import { breaks, cleanups, undoable } from './cleanup.entry.ts'

const FEATURES = ['cleanup']

describe.each(STORES)('on %s', async (_, freshStore) => {
  const { api } = await openKeyed(freshStore)
  const { open, followers, cleanupOf } = cleanups(api, FEATURES)

  test('the run is not erased, and not forked past an undone step, before its cleanup run has ended', async () => {
    const hold = gate()
    const { name } = await open(
      undoing(flow([undoable('a'), run('b'), undoable('c'), breaks]), {
        undo: async step => (step === 'a' ? hold.opened : undefined),
      }),
    )
    const { runId } = await api.send({ name })
    await api.failed(runId)
    const { id } = await cleanupOf(runId)
    await until(async () => (await api.steps(id)).some(step => step.name === 'rollback:c'))
    const erase = () => api.request('DELETE', `/runs/${runId}`)
    expect((await erase()).json).toMatchObject({ error: { code: 'conflict', details: { cleanupRunId: id } } })
    const retry = (step: string) => api.post(`/runs/${runId}/retry-from-step`, { step })
    expect((await retry('b')).json).toMatchObject({
      error: { code: 'conflict', details: { step: 'a', cleanupRunId: id } },
    })
    expect((await retry('a')).status).toBe(200)
    await api.post(`/runs/${id}/cancel`)
    hold.open()
    await api.reaches(id, 'cancelled')
    // The rollback of c has a record, the rollback of a has none.
    expect((await retry('break')).json).toMatchObject({ error: { code: 'conflict', details: { step: 'c' } } })
    expect((await retry('c')).status).toBe(200)
    const replayed = await api.post(`/runs/${id}/replay`)
    const again = await api.succeeded((replayed.json as RunSummary).id)
    expect(again).toMatchObject({ kind: 'cleanup', replayOf: id })
    expect(await api.steps(again.id)).toMatchObject([{ name: 'rollback:c' }, { name: 'rollback:a' }])
    expect((await erase()).status).toBe(204)
    const gone = await api.post(`/runs/${id}/replay`)
    const { error } = await api.failed((gone.json as RunSummary).id)
    expect(error?.message).toBe(`Run ${runId}, which this run cleans up after, no longer exists.`)
  })

  test('a bulk cancel with cleanup: false has no cleanup runs; with another action it is refused', async () => {
    const { name } = await open(undoing(flow([undoable('a'), wait('w', 'never')])), { cleanup: true })
    const start = async () => {
      const { runId } = await api.send({ name })
      await api.reaches(runId, 'waiting')
      return runId
    }
    const cancelAll = async (ids: string[], more: object) => {
      const { json } = await api.post('/bulk', { action: 'cancel', ids, ...more })
      const { bulkId } = json as { bulkId: string }
      await until(async () => ((await api.get(`/bulk/${bulkId}`)).json as BulkDetail).status === 'done')
    }
    const [skipped, cleaned] = [await start(), await start()]
    await cancelAll([skipped], { cleanup: false })
    await cancelAll([cleaned], {})
    await api.succeeded((await cleanupOf(cleaned)).id)
    expect(await followers(skipped)).toEqual([])
    const refused = await api.post('/bulk', { action: 'pause', ids: [skipped], cleanup: false })
    expect(refused.json).toMatchObject({ error: { code: 'invalid_request', details: { field: 'cleanup' } } })
  })

  test('the slot that the run kept is free when its cleanup run has ended, and not before', async () => {
    const hold = gate()
    const handler = undoing(
      (invoke, record) => flow(invoke.event.data === 'fail' ? [undoable('a'), breaks] : [run('a')])(invoke, record),
      { undo: () => hold.opened },
    )
    const { name } = await open(handler, { concurrency: { limit: 1, hold: 'run' } })
    const first = await api.send({ name, data: 'fail' })
    const second = await api.send({ name, data: 'work' })
    await api.failed(first.runId)
    const { id } = await cleanupOf(first.runId)
    await api.reaches(id, 'running')
    await waitsFor(api, second.runId, 'concurrency')
    const why = (await api.get(`/runs/${second.runId}/why`)).json as { blockedBy: { runId: string }[] }
    expect(why.blockedBy.map(({ runId }) => runId)).toEqual([id])
    hold.open()
    await api.succeeded(id)
    await api.succeeded(second.runId)
  })

  test('no limit holds the cleanup run; a paused workflow does, as it holds an on-failure run', async () => {
    const hold = gate()
    const undo = undoing(flow([undoable('a'), wait('w', 'never')]))
    const holds = undoing(flow([undoable('b'), run('h', () => hold.opened), breaks]))
    const handler: Handler = (invoke, record) =>
      invoke.ctx.onFailure ? returned() : (invoke.event.data === 'holds' ? holds : undo)(invoke, record)
    const { name, app } = await open(handler, { concurrency: { limit: 1 }, onFailure: true })
    const { runId } = await api.send({ name })
    await api.reaches(runId, 'waiting')
    const holder = await api.send({ name, data: 'holds' })
    await api.reaches(holder.runId, 'running')
    await api.post(`/runs/${runId}/cancel`)
    await api.succeeded((await cleanupOf(runId)).id)
    expect((await api.run(holder.runId)).status).toBe('running')
    await api.post(`/workflows/${app}/${name}/pause`)
    hold.open()
    await api.failed(holder.runId)
    const held = async () => (await followers(holder.runId)).filter(run => run.waitingFor?.kind === 'workflow-paused')
    const ids = (await until(async () => (await held()).length === 2 && held(), { what: 'both runs' })).map(
      ({ id }) => id,
    )
    await api.post(`/workflows/${app}/${name}/resume`)
    for (const id of ids) await api.succeeded(id)
  })

  test('the cleanup run waits for a runner that knows such runs, and says so', async () => {
    const { name, app, runner } = await open(undoing(flow([undoable('a'), wait('w', 'never')])))
    const { runId } = await api.send({ name })
    await api.reaches(runId, 'waiting')
    await runner.register(api, { features: [] })
    await api.post(`/runs/${runId}/cancel`)
    const { id } = await cleanupOf(runId)
    const sentence = `No runner of app "${app}" has workflow "${name}" and supports cleanup runs: this run cleans up after run ${runId}.`
    await until(async () =>
      ((await api.get(`/runs/${id}/why`)).json as { sentence: string }).sentence.includes(sentence),
    )
    expect(await waitsFor(api, id, 'runner')).toMatchObject({ status: 'queued' })
    expect(runner.record.of(id)).toEqual([])
    await runner.register(api, { features: FEATURES })
    await api.succeeded(id)
  })

  test('statistics, trees and lists count cleanup runs apart', async () => {
    const { name, app } = await open(undoing(flow([undoable('a'), breaks])), { onFailure: false })
    const { runId } = await api.send({ name })
    await api.failed(runId)
    const { id } = await cleanupOf(runId)
    await api.succeeded(id)
    const [stats] = (await api.get(`/workflows/stats?app=${app}`)).json as WorkflowStats[]
    expect(stats).toMatchObject({
      ...{ started: 1, succeeded: 0, failed: 1 },
      cleanup: { succeeded: 1, failed: 0, cancelled: 0, inFlight: 0 },
      onFailure: { succeeded: 0, failed: 0, cancelled: 0, inFlight: 0 },
    })
    const { kind } = (await api.get(`/runs/facets?app=${app}`)).json as { kind: object }
    expect(kind).toEqual({ run: 1, onFailure: 0, cleanup: 1 })
    for (const [of, runs] of [
      ['run', [runId]],
      ['cleanup', [id]],
      ['onFailure', []],
    ] as const)
      expect((await api.runs(`?app=${app}&kind=${of}`)).map(run => run.id)).toEqual(runs)
    const tree = (await api.get(`/runs/${runId}/tree`)).json as { nodes: { id: string; via: string }[] }
    expect(tree.nodes.map(node => [node.id, node.via])).toEqual([
      [runId, 'root'],
      [id, 'cleanup'],
    ])
  })
})

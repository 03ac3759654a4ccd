// Late answers on both databases (docs/wire-protocol.md#late-answers): a step is undone if a pass executes it while its run is
// ended.

import type { Runner } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { child, discovered, flow, gate, opcode, openKeyed, run, STORES, undoing, until } from '../../kit/index.ts'
import { cleanups, slow } from './cleanup.entry.ts'

describe.each(STORES)('on %s', async (_, freshStore) => {
  const { api } = await openKeyed(freshStore)
  const { open, followers, cleanupOf } = cleanups(api, ['cleanup', 'http-checkpoints'])
  const cleanupsOf = (runId: string) => followers(runId, '&kind=cleanup')

  /** A workflow whose second step is under way until the gate opens. With `early.rollback`, the first step can be undone too. */
  async function holding(registration: object = {}, early: { rollback?: true } = {}) {
    const { hold, begun, charge } = slow()
    const undone: string[] = []
    const handler = undoing(flow([run('reserve', () => 'r', early), charge, run('never')]), {
      undo: step => void undone.push(step),
    })
    const opened = await open(handler, registration)
    const { runId } = await api.send({ name: opened.name })
    await begun.opened
    return { ...opened, runId, hold, undone }
  }

  test.each([{}, { rollback: true } as const])(
    'of a cancelled run: the step is stored and undone, with %j before it',
    async early => {
      const { runId, hold, undone, runner } = await holding({}, early)
      expect((await api.post(`/runs/${runId}/cancel`)).json).toMatchObject({ status: 'cancelled' })
      // The cleanup run waits for the answer.
      const before = await cleanupsOf(runId)
      expect(before.map(({ status }) => status)).toEqual(early.rollback ? ['queued'] : [])
      hold.open()
      const { id } = await cleanupOf(runId)
      await api.succeeded(id)
      expect(undone).toEqual(early.rollback ? ['charge', 'reserve'] : ['charge'])
      expect(await api.steps(runId)).toMatchObject([
        { name: 'reserve', status: 'succeeded' },
        { name: 'charge', status: 'succeeded', data: 'charged', rollback: true },
      ])
      expect(await api.run(runId)).toMatchObject({ status: 'cancelled' })
      expect(runner.record.times(runId, 'never')).toBe(0)
      expect((await cleanupsOf(runId)).length).toBe(1)
      expect((await api.stream(runId)).messages.map(({ data }) => data.status)).toContain('cancelled')
    },
  )

  test('of a run that is out of time: it fails at its timeout, and the step is undone', async () => {
    const { runId, hold, undone } = await holding({ timeouts: { run: '300ms' } })
    expect((await api.failed(runId)).error).toMatchObject({ code: 'timeout' })
    expect(await cleanupsOf(runId)).toEqual([])
    hold.open()
    await api.succeeded((await cleanupOf(runId)).id)
    expect(undone).toEqual(['charge'])
  })

  test('of a child whose parent is cancelled: it ends at once, and is cleaned up after', async () => {
    const { hold, begun, charge } = slow()
    const undone: string[] = []
    const kid = await open(undoing(flow([charge]), { undo: name => void undone.push(name) }))
    const { name } = await open(flow([child('c', kid.name)]))
    const { runId } = await api.send({ name })
    await begun.opened
    const childRunId = (await until(async () => (await api.steps(runId))[0]?.childRunId)) as string
    await api.post(`/runs/${runId}/cancel`)
    await api.reaches(childRunId, 'cancelled')
    hold.open()
    await api.succeeded((await cleanupOf(childRunId)).id)
    expect(undone).toEqual(['charge'])
  })

  test('with cleanup: false the call is aborted, and nothing of it is stored', async () => {
    const { runId, runner } = await holding()
    const invoke = runner.record.of(runId).at(-1)
    await api.post(`/runs/${runId}/cancel`, { cleanup: false })
    await until(() => Promise.resolve(invoke?.signal.aborted))
    expect((await api.steps(runId)).map(({ name }) => name)).toEqual(['reserve'])
    expect(await cleanupsOf(runId)).toEqual([])
  })

  test('a checkpoint of parallel steps is stored, and the pass goes on until its answer', async () => {
    const [first, second, begun] = [gate(), gate(), gate()]
    const undone: string[] = []
    const ran = (name: string) => opcode('StepRun', name, { data: name, rollback: true })
    const { name, runner } = await open(
      undoing(
        async ({ ctx }) => {
          begun.open()
          await first.opened
          const report = { method: 'POST', headers: { 'content-type': 'application/json' } }
          const body = JSON.stringify({ seq: 1, opcodes: [ran('a')], logs: [] })
          const ack = await fetch(ctx.checkpointUrl as string, { ...report, body })
          expect(await ack.json()).toMatchObject({ seq: 1, stop: true })
          await second.opened
          return discovered([ran('a'), ran('b')])
        },
        { undo: step => void undone.push(step) },
      ),
    )
    const { runId } = await api.send({ name })
    await begun.opened
    await api.post(`/runs/${runId}/cancel`)
    first.open()
    const { id } = await cleanupOf(runId)
    expect(await api.steps(runId)).toMatchObject([{ name: 'a', status: 'succeeded' }])
    expect(await api.run(id)).toMatchObject({ status: 'queued' })
    second.open()
    await api.succeeded(id)
    expect(undone).toEqual(['b', 'a'])
    expect(runner.record.passes(runId)).toBe(1)
  })

  test('a step that was to be tried again and succeeds late is undone', async () => {
    const { hold, begun, charge } = slow({ failures: 1 })
    const undone: string[] = []
    const { name } = await open(undoing(flow([charge]), { undo: name => void undone.push(name) }), {
      retry: { maxAttempts: 3, initialMs: 1, maxMs: 1 },
    })
    const { runId } = await api.send({ name })
    await begun.opened
    await api.post(`/runs/${runId}/cancel`)
    hold.open()
    await api.succeeded((await cleanupOf(runId)).id)
    expect(undone).toEqual(['charge'])
    expect(await api.steps(runId)).toMatchObject([{ name: 'charge', status: 'succeeded', attempt: 2 }])
  })

  test('a late answer without anything to undo changes nothing', async () => {
    const { hold, begun, charge } = slow({ canBeUndone: false })
    const { name, app } = await open(flow([charge]))
    const { runId } = await api.send({ name })
    await begun.opened
    const inFlight = async () => ((await api.get(`/runners?app=${app}`)).json as Runner[])[0]?.inFlight
    await api.post(`/runs/${runId}/cancel`)
    expect(await inFlight()).toBe(1)
    hold.open()
    await until(async () => (await inFlight()) === 0, { what: 'the late answer' })
    expect(await api.steps(runId)).toEqual([])
    expect(await cleanupsOf(runId)).toEqual([])
  })
})

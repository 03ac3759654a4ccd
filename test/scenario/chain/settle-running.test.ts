// A step that runs for the first time has no record. It can be settled once its runner has reported that it is running.

import { expect, test } from 'vitest'
import { gate, opcode, returned, scenario, stepId, unique, until } from '../../kit/index.ts'
import { aborted, answeredWith, ScriptedTransport } from '../../kit/runner/scripted-transport.ts'

const transport = new ScriptedTransport()
const { api } = await scenario({ ports: { transport } })

test('a step that is reported as running is settled, its pass is aborted, and its result is dropped', async () => {
  const [reported, isAborted] = [gate(), gate()]
  const name = unique('hangs')
  let memo: unknown
  transport.scripts.set(name, async pass => {
    if (pass.no > 1) {
      memo = pass.request.steps
      return answeredWith(returned('done') as { status: number })
    }
    await reported.opened
    await pass.checkpoint([], { running: [{ id: stepId('charge'), name: 'charge', startedMs: 60_000 }] })
    pass.signal.addEventListener('abort', () => isAborted.open())
    await isAborted.opened
    expect(await pass.checkpoint([opcode('StepRun', 'charge', { data: 'late' })])).toBeUndefined()
    return aborted
  })
  const runner = { app: unique('app'), url: 'http://127.0.0.1:9/', protocolVersion: 1, workflows: [{ name }] }
  await api.post('/register', runner)
  const { runId } = await api.send({ name })
  const settle = () => api.post(`/runs/${runId}/steps/charge/settle`, { data: 'by hand', reason: 'it hangs' })
  expect(await settle()).toMatchObject({ status: 404, code: 'step_not_found' })
  reported.open()
  await until(async () => (await api.steps(runId))[0]?.status === 'running')
  expect((await settle()).json).toMatchObject({ id: stepId('charge'), status: 'succeeded', data: 'by hand' })
  expect((await api.succeeded(runId)).result).toBe('done')
  expect(memo).toEqual({ [stepId('charge')]: { data: 'by hand' } })
  expect(await api.steps(runId)).toMatchObject([{ name: 'charge', data: 'by hand', settledBy: { reason: 'it hangs' } }])
})

// RunWorkflow: children, their results, errors, cancellation and pins (docs/concepts.md#children).

import { describe, expect, test } from 'vitest'
import {
  child,
  flow,
  type Handler,
  type PlainRunner,
  returned,
  run,
  StepFailure,
  scenario,
  step,
  stepId,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true, env: { ENGINE_CHILD_GRACE: '50ms' } })

/** A parent that runs `childName` with `{n: 1}`, in an app that serves both workflows. */
async function family(kid: Handler, options: { runner?: string; registration?: Record<string, unknown> } = {}) {
  const [parent, childName] = [unique('parent'), unique('child')]
  const { registration = {}, runner } = options
  const host: PlainRunner = await engine.runner({
    ...(runner === undefined ? {} : { runner }),
    workflows: {
      [parent]: flow([child('kid', childName, { n: 1 })]),
      [childName]: { handler: kid, registration },
    },
  })
  const send = (event: Record<string, unknown> = {}) => api.send({ name: parent, ...event })
  return { parent, childName, host, send }
}

/** The id of the child that the parent's step has started. */
async function childOf(parentRunId: string, name = 'kid'): Promise<string> {
  const step = await until(() => api.step(parentRunId, name), { what: `the step ${name}` })
  return step.childRunId as string
}

describe('result', () => {
  test("the child gets childData, and its result is the step's", async () => {
    const { send, childName, host } = await family(({ event }) => returned({ got: event.data }))
    const { runId } = await send()
    expect((await api.succeeded(runId)).result).toEqual({ kid: { got: { n: 1 } } })
    const childId = await childOf(runId)
    expect(host.record.of(childId)[0]?.event).toEqual({ name: childName, data: { n: 1 } })
    expect(await api.step(runId, 'kid')).toMatchObject({
      op: 'RunWorkflow',
      status: 'succeeded',
      childRunId: childId,
    })
  })

  test("the child is a run of its own, with its parent's triggerKind and no event", async () => {
    const { send, childName, host } = await family(() => returned())
    const { runId } = await send()
    await api.succeeded(runId)
    const kid = await api.run(await childOf(runId))
    expect(kid).toMatchObject({
      workflow: childName,
      app: host.app,
      status: 'succeeded',
      triggerKind: 'event',
      parentRunId: runId,
      input: { n: 1 },
    })
    for (const absent of ['eventId', 'eventName', 'runner', 'replayOf']) expect(kid).not.toHaveProperty(absent)
  })

  test('the parent waits for its child by name', async () => {
    const event = unique('finish')
    const { send } = await family(flow([wait('finish', event)]))
    const { runId } = await send()
    const parked = await api.reaches(runId, 'waiting')
    const childRunId = await childOf(runId)
    expect(parked.waitingFor).toEqual({ kind: 'child', stepName: 'kid', childRunId })
    await api.reaches(childRunId, 'waiting')
    await api.send({ name: event })
    await api.succeeded(runId)
  })

  test('a child without childData has no data and no input', async () => {
    const [parent, kid] = [unique('parent'), unique('child')]
    const { record } = await engine.runner({
      workflows: { [parent]: flow([child('kid', kid)]), [kid]: () => returned() },
    })
    const { runId } = await api.send({ name: parent })
    expect((await api.succeeded(runId)).result).toEqual({ kid: null })
    const childId = await childOf(runId)
    expect(record.of(childId)[0]?.event).toEqual({ name: kid })
    expect(await api.run(childId)).not.toHaveProperty('input')
  })
})

describe('error', () => {
  const failing = flow([
    run('break', () => {
      throw new StepFailure('broken leg', { retriable: false })
    }),
  ])

  test("a failed child puts error in the parent's memo, and the handler may catch it", async () => {
    const { send, host } = await family(failing)
    const { runId } = await send()
    expect((await api.succeeded(runId)).result).toEqual({
      kid: { error: expect.objectContaining({ message: 'broken leg' }) },
    })
    expect(host.record.of(runId)[1]?.steps[stepId('kid')]?.error?.message).toBe('broken leg')
    expect(await api.step(runId, 'kid')).toMatchObject({ status: 'failed', error: { message: 'broken leg' } })
    await api.failed(await childOf(runId))
  })
})

describe('which app and which runner', () => {
  test("a child inherits its parent's pin within the same app", async () => {
    const pin = unique('pin')
    const { send, host } = await family(() => returned(), { runner: pin })
    await engine.runner({ app: host.app, runner: unique('other'), workflows: host.workflows })
    const { runId } = await send({ runner: pin })
    await api.succeeded(runId)
    const childId = await childOf(runId)
    expect((await api.run(childId)).runner).toBe(pin)
    expect(host.record.of(childId)[0]?.ctx.runner).toBe(pin)
  })

  test('the one other app that has the name runs it, without the pin', async () => {
    const [parent, kid, pin] = [unique('parent'), unique('child'), unique('pin')]
    await engine.runner({ runner: pin, workflows: { [parent]: flow([child('kid', kid)]) } })
    const other = await engine.runner({ workflows: { [kid]: () => returned('from afar') } })
    const { runId } = await api.send({ name: parent, runner: pin })
    expect((await api.succeeded(runId)).result).toEqual({ kid: 'from afar' })
    const childRun = await api.run(await childOf(runId))
    expect(childRun.app).toBe(other.app)
    expect(childRun).not.toHaveProperty('runner')
  })

  test("the parent's own app comes first, childApp overrides", async () => {
    const [parent, kid, elsewhere] = [unique('parent'), unique('child'), unique('app')]
    const stages = [child('mine', kid), step('RunWorkflow', 'theirs', { childName: kid, childApp: elsewhere })]
    await engine.runner({ workflows: { [parent]: flow(stages), [kid]: () => returned('mine') } })
    await engine.runner({ app: elsewhere, workflows: { [kid]: () => returned('theirs') } })
    const { runId } = await api.send({ name: parent })
    expect((await api.succeeded(runId)).result).toEqual({ mine: 'mine', theirs: 'theirs' })
  })

  test('no app, several apps, or a childApp without it: the step gets an error', async () => {
    const [parent, twice] = [unique('parent'), unique('child')]
    const nobody = unique('nobody')
    const stages = [
      child('none', nobody),
      child('several', twice),
      step('RunWorkflow', 'wrong', { childName: twice, childApp: nobody }),
    ]
    await engine.runner({ workflows: { [parent]: flow(stages) } })
    for (let i = 0; i < 2; i++) await engine.runner({ workflows: { [twice]: () => returned() } })
    const { runId } = await api.send({ name: parent })
    const { result } = await api.succeeded(runId)
    const error = (text: string) => ({
      error: expect.objectContaining({ message: expect.stringContaining(text) }),
    })
    expect(result).toEqual({ none: error(nobody), several: error(twice), wrong: error(nobody) })
    for (const name of ['none', 'several', 'wrong']) {
      const failed = await api.step(runId, name)
      expect(failed).toMatchObject({ status: 'failed' })
      expect(failed).not.toHaveProperty('childRunId')
    }
  })
})

// Emit: the event is recorded, starts runs and wakes waits in the commit of its pass (docs/wire-protocol.md#opcodes).

import { describe, expect, it } from 'vitest'
import { given } from '../../testkit/given.testkit.ts'
import { emits, event, NOW, reported, run, waiting, workflow } from '../../testkit/nouns.testkit.ts'

const sent = emits('tell', 'order.told', '{"n": 1.0}')

describe('an emit', () => {
  const then = given(run())
    .registered(workflow('order'), workflow('mail', { app: 'post', triggers: [{ event: 'order.*' }] }))
    .when(reported(sent))
  const [recorded] = then.changes('event.recorded')

  it('starts a run of every workflow it triggers, of whatever app', () => {
    expect(then.created).toMatchObject({
      app: 'post',
      workflow: 'mail',
      eventId: recorded?.event.id,
      input: '{"n": 1.0}',
    })
    expect(recorded?.event.triggered).toEqual([{ workflow: 'mail', app: 'post', runId: then.created?.id }])
  })
})

describe('an emit with waits for it', () => {
  const own = { runId: 'run_1', stepIndex: 0, since: 2 }

  it("wakes its own run's wait in its own decision, not from outside", () => {
    const then = given(run(), waiting('heard', 'order.told')).waiters('order.told', own).when(reported(sent))
    expect(then.changes('step.woken')).toEqual([])
    expect(then.step('heard')).toMatchObject({
      status: 'succeeded',
      eventId: then.step('tell').emittedEventId,
      finishedAt: NOW,
    })
    expect(JSON.parse(then.step('heard').data as string)).toMatchObject({
      name: 'order.told',
      data: { n: 1 },
    })
    expect(then.changes('event.recorded')[0]?.event.woke).toBe(1)
  })

  it("leaves its own run's wait for another name alone", () => {
    const then = given(run(), waiting('other', 'order.lost')).when(reported(sent))
    expect(then.steps).toMatchObject({ other: 'waiting' })
  })
})

describe('two emits of one name in one pass', () => {
  const again = emits('again', 'order.told', '2')

  it('wake a single waiter once, with the first', () => {
    const waiter = { runId: 'run_2', stepIndex: 4, since: 1 }
    const then = given(run()).waiters('order.told', waiter).when(reported(sent, again))
    expect(then.changes('step.woken').map(woken => woken.eventId)).toEqual([then.step('tell').emittedEventId])
    expect(then.changes('event.recorded').map(({ event }) => event.woke)).toEqual([1, 0])
  })
})

it("an event's text is valid JSON whatever its name", () => {
  const name = 'a "quoted"\\name'
  const then = given(run(), waiting('heard', name))
    .waiters(name, { runId: 'run_1', stepIndex: 0, since: 1 })
    .when(reported(emits('tell', name)))
  expect(JSON.parse(then.step('heard').data as string)).toEqual({
    id: then.step('tell').emittedEventId,
    name,
    receivedAt: new Date(NOW).toISOString(),
  })
  expect(event('evt_1', name).name).toBe(name)
})

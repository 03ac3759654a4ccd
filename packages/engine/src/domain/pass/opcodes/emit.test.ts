// Emit: the event is recorded, starts runs and wakes waits in the commit of its pass (docs/wire-protocol.md#opcodes).

import { describe, expect, it } from 'vitest'
import { given } from '../../testkit/given.testkit.ts'
import { emits, event, NOW, reported, run, threw, waiting, workflow } from '../../testkit/nouns.testkit.ts'

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

  it('is settled at once with the id of its event', () => {
    expect(then.step('tell')).toMatchObject({ status: 'succeeded', emittedEventId: recorded?.event.id })
    expect(JSON.parse(then.step('tell').data as string)).toEqual({ eventId: recorded?.event.id })
    expect(then.next).toBe('pass')
  })

  it('persists also when a branch beside it fails the run', () => {
    const then = given(run()).when(reported(threw('charge', { retriable: false }), sent))
    expect(then.run.status).toBe('failed')
    expect(then.changes('event.recorded')).toHaveLength(1)
  })
})

describe('an emit with waits for it', () => {
  const other = { runId: 'run_2', stepIndex: 4, since: 1 }
  const own = { runId: 'run_1', stepIndex: 0, since: 2 }

  it('wakes the wait of another run', () => {
    const then = given(run()).waiters('order.told', other).when(reported(sent))
    expect(then.changes('step.woken')).toMatchObject([
      {
        runId: 'run_2',
        stepIndex: 4,
        status: 'succeeded',
        eventId: then.step('tell').emittedEventId,
        at: NOW,
      },
    ])
    expect(then.changes('event.recorded')[0]?.event.woke).toBe(1)
  })

  it('is guarded by exactly those waits', () => {
    const then = given(run()).waiters('order.told', other).when(reported(sent))
    expect(then.guards).toContainEqual({
      type: 'waiters',
      namespace: 'default',
      eventName: 'order.told',
      waiters: [other],
    })
  })

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

  it('wakes every wait of its run', () => {
    const then = given(run(), waiting('first', 'order.told'), waiting('second', 'order.told'))
      .waiters('order.told', own, { ...own, stepIndex: 1, since: 3 })
      .when(reported(sent))
    expect(then.steps).toMatchObject({ first: 'succeeded', second: 'succeeded' })
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

  it('wake two waits of one run, one each', () => {
    const waiter = { runId: 'run_2', stepIndex: 4, since: 1 }
    const then = given(run())
      .waiters('order.told', waiter, { ...waiter, stepIndex: 5, since: 2 })
      .when(reported(sent, again))
    expect(then.changes('step.woken').map(woken => woken.stepIndex)).toEqual([4, 5])
  })

  it("settle the run's own wait once, with the first", () => {
    const then = given(run(), waiting('heard', 'order.told'))
      .waiters('order.told', { runId: 'run_1', stepIndex: 0, since: 1 })
      .when(reported(sent, again))
    expect(then.step('heard').eventId).toBe(then.step('tell').emittedEventId)
    expect(then.changes('step.moved')).toHaveLength(1)
  })
})

it('an emit of the name of the run itself starts another run of it', () => {
  const then = given(run()).when(reported(emits('loop', 'order')))
  expect(then.created).toMatchObject({ workflow: 'order', eventName: 'order' })
  expect(then.created?.input).toBeUndefined()
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

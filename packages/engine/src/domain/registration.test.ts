// What a registration means (contract §2.11, decisions "Registration, routing, wire").

import type { RegisterRequest, WorkflowRegistration } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import type { Change } from './change.ts'
import { NOW, runner, workflow } from './nouns.testkit.ts'
import { registeredRunner, registeredWorkflow, registrationChanges } from './registration.ts'
import { DEFAULT_RETRY } from './retry.ts'

const request: RegisterRequest = { app: 'shop', url: 'http://r1.test/invoke', workflows: [{ name: 'order' }] }
const register = (registration: WorkflowRegistration) =>
  registeredWorkflow({ namespace: 'default', app: 'shop', registration, field: 'workflows[0]', now: NOW })

describe('a runner', () => {
  it('is keyed by its id, or by its url when it has none', () => {
    expect(registeredRunner('default', { ...request, runner: 'r1' }, NOW).runnerId).toBe('r1')
    expect(registeredRunner('default', request, NOW).runnerId).toBe(request.url)
  })

  it('has the fields it reported, and no others', () => {
    const told = {
      framework: 'hono',
      runtime: 'node',
      sdkName: 'sdk',
      version: '1',
      region: 'eu',
      keyFingerprint: 'f',
    }
    expect(registeredRunner('default', { ...request, ...told, language: 'ts' }, NOW)).toEqual({
      namespace: 'default',
      app: 'shop',
      runnerId: request.url,
      url: request.url,
      workflows: ['order'],
      lastSeenAt: NOW,
      ...told,
    })
    expect(registeredRunner('default', request, NOW)).not.toHaveProperty('region')
  })
})

describe('a workflow', () => {
  it('without triggers gets the implicit one on its name', () => {
    expect(register({ name: 'order' }).triggers).toEqual([{ event: 'order' }])
    expect(register({ name: 'order', triggers: [] }).triggers).toEqual([{ event: 'order' }])
  })

  it('with triggers has those, and no implicit one', () => {
    const triggers = [{ event: 'order.*' }, { cron: '* * * * *' }]
    expect(register({ name: 'order', triggers }).triggers).toEqual(triggers)
  })

  it('has every default filled in', () => {
    expect(register({ name: 'order' })).toEqual({
      namespace: 'default',
      app: 'shop',
      name: 'order',
      triggers: [{ event: 'order' }],
      retry: DEFAULT_RETRY,
      onFailure: false,
      updatedAt: NOW,
    })
  })

  it('keeps its retry policy, its handler, its deadline and its flow control', () => {
    const flowControl = { concurrency: { limit: 2 }, priority: 'event.data.p', timeouts: { invoke: '30s' } }
    expect(
      register({ name: 'order', retry: { maxAttempts: 2 }, onFailure: true, ...flowControl }),
    ).toMatchObject({
      retry: { ...DEFAULT_RETRY, maxAttempts: 2 },
      onFailure: true,
      invokeTimeoutMs: 30_000,
      flowControl: {
        concurrency: [{ limit: 2, scope: 'workflow' }],
        priority: 'event.data.p',
        timeouts: { invokeMs: 30_000 },
      },
    })
  })

  it.each(['soon', 0, '0s', '-1s'])('with the invoke timeout %s is refused, naming the field', invoke => {
    expect(() => register({ name: 'order', timeouts: { invoke } })).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: { field: 'workflows[0].timeouts.invoke' },
      }),
    )
  })

  it('keeps the filters of its triggers', () => {
    const triggers = [{ event: 'a', if: 'event.data.ok' }]
    expect(register({ name: 'order', triggers }).triggers).toEqual(triggers)
  })

  it.each(['event.data.ok ==', 'async.data.ok', '1 + 1'])(
    'with the filter %s is refused, naming the field',
    source => {
      const triggers = [{ event: 'a' }, { event: 'b', if: source }]
      expect(() => register({ name: 'order', triggers })).toThrow(
        expect.objectContaining({ details: { field: 'workflows[0].triggers[1].if' } }),
      )
    },
  )
})

describe('the changes of a registration', () => {
  const changes = (options: Partial<Parameters<typeof registrationChanges>[0]>): Change[] =>
    registrationChanges({
      runner: runner('r1', { workflows: ['order'], lastSeenAt: NOW }),
      workflows: [workflow('order')],
      earlier: undefined,
      others: [],
      ...options,
    })
  const dropped = (options: Partial<Parameters<typeof registrationChanges>[0]>) =>
    changes(options).flatMap(change => (change.type === 'workflow.dropped' ? [change.name] : []))

  it('are the app, the runner, its workflows, and a ring for runs held for want of one', () => {
    expect(changes({})).toEqual([
      { type: 'app.seen', app: { namespace: 'default', name: 'shop', createdAt: NOW } },
      { type: 'runner.registered', runner: runner('r1', { lastSeenAt: NOW }) },
      { type: 'workflow.registered', workflow: workflow('order') },
      { type: 'app.runnerArrived', namespace: 'default', app: 'shop', at: NOW },
    ])
  })

  it('of a heartbeat ring too: the runner may be back from the dead', () => {
    const repeat = changes({ earlier: runner('r1'), workflows: [] })
    expect(repeat.map(({ type }) => type)).toEqual(['app.seen', 'runner.registered', 'app.runnerArrived'])
  })

  it('drop the workflows it no longer serves', () => {
    expect(dropped({ earlier: runner('r1', { workflows: ['order', 'pack', 'ship'] }) })).toEqual([
      'pack',
      'ship',
    ])
  })

  it('drop none that another runner of the app still serves', () => {
    const others = [runner('r2', { workflows: ['pack'] })]
    expect(dropped({ earlier: runner('r1', { workflows: ['order', 'pack', 'ship'] }), others })).toEqual([
      'ship',
    ])
  })
})

// Registrations: rows of runners and workflows, and their changes (docs/wire-protocol.md#register).

import type { RegisterRequest, WorkflowRegistration } from '@perdure/protocol'
import { describe, expect, it, test } from 'vitest'
import type { Change } from '../model/change.ts'
import type { Runner, Workflow } from '../model/workflow.ts'
import { DEFAULT_RETRY } from '../run/retry.ts'
import { NOW, runner, workflow } from '../testkit/nouns.testkit.ts'
import { registeredRunner, registeredWorkflow, registrationChanges } from './registration.ts'
import { registrationWarnings } from './registration-warnings.ts'

const request: RegisterRequest = { app: 'shop', url: 'http://r1.test/invoke', workflows: [{ name: 'order' }] }
const register = (registration: WorkflowRegistration) =>
  registeredWorkflow({ namespace: 'default', app: 'shop', registration, field: 'workflows[0]', now: NOW })

describe('a runner', () => {
  it('is keyed by its id, or by its url when it has none', () => {
    expect(registeredRunner('default', { ...request, runner: 'r1' }, NOW).runnerId).toBe('r1')
    expect(registeredRunner('default', request, NOW).runnerId).toBe(request.url)
  })

  it('has the fields it reported, and no others', () => {
    const optional = {
      framework: 'hono',
      runtime: 'node',
      language: 'ts',
      sdkName: 'sdk',
      version: '1',
      region: 'eu',
      keyFingerprint: 'f',
    }
    expect(registeredRunner('default', { ...request, ...optional, mood: 'fine' } as RegisterRequest, NOW)).toEqual({
      namespace: 'default',
      app: 'shop',
      runnerId: request.url,
      url: request.url,
      workflows: ['order'],
      lastSeenAt: NOW,
      ...optional,
    })
    expect(registeredRunner('default', request, NOW)).not.toHaveProperty('region')
  })
})

describe('a workflow', () => {
  it('gets the implicit trigger on its name when triggers are omitted, and none for an empty list', () => {
    expect(register({ name: 'order' }).triggers).toEqual([{ event: 'order' }])
    expect(register({ name: 'order', triggers: [] }).triggers).toEqual([])
  })

  it('with empty lists of limits and cancels has none', () => {
    expect(register({ name: 'order', concurrency: [], cancelOn: [] })).toEqual(register({ name: 'order' }))
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
    const flowControl = { concurrency: { limit: 2 }, priority: 'event.data.p', timeouts: { invoke: '30s' as const } }
    expect(register({ name: 'order', retry: { maxAttempts: 2 }, onFailure: true, ...flowControl })).toMatchObject({
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

  it.each(['soon', '30', 0, '0s', '-1s'] as never[])(
    'with the invoke timeout %s is refused, naming the field',
    invoke => {
      expect(() => register({ name: 'order', timeouts: { invoke } })).toThrow(
        expect.objectContaining({
          code: 'invalid_request',
          details: { field: 'workflows[0].timeouts.invoke' },
        }),
      )
    },
  )

  it('keeps the filters of its triggers', () => {
    const triggers = [{ event: 'a', if: 'event.data.ok' }]
    expect(register({ name: 'order', triggers }).triggers).toEqual(triggers)
  })

  it.each(['event.data.ok ==', 'async.data.ok', '1 + 1'])('with the filter %s is refused, naming the field', source => {
    const triggers = [{ event: 'a' }, { event: 'b', if: source }]
    expect(() => register({ name: 'order', triggers })).toThrow(
      expect.objectContaining({ details: { field: 'workflows[0].triggers[1].if' } }),
    )
  })
})

test('the warnings name parts that may not mean what their author expects', () => {
  const workflows: WorkflowRegistration[] = [
    { name: 'a', triggers: [{ event: 'a/*' }], cancelOn: [{ event: 'x' }, { event: 'x/*', if: 'true' }] },
    { name: 'b', cancelOn: [{ event: 'x*y' }] },
    { name: 'c', triggers: [], cancelOn: [{ event: '*' }] },
    { name: 'd', triggers: [{ event: 'order.*.done', if: 'event.customerId == "event.name" && has(event.data.a)' }] },
    { name: 'e', throttle: { limit: 1, period: '1s', key: 'event.data.tags.length' }, priority: 'event.ts' },
  ]
  expect(registrationWarnings({ ...request, workflows })).toEqual([
    'workflow "a": cancelOn[1].event: the * is not a wildcard here, so only an event named "x/*" cancels the run',
    'workflow "c": triggers: the list is empty, so only a direct start, a parent run or a redrive starts the workflow',
    'workflow "c": cancelOn[0].event: the * is not a wildcard here, so only an event named "*" cancels the run',
    'workflow "d": triggers[0].event: "order.*.done" has a * before its end, where it is not a wildcard; ' +
      '"order.*" with an `if` over event.name selects',
    'workflow "d": triggers[0].if reads event.customerId, and an event has only id, name, data; ' +
      'did you mean event.data.customerId?',
    'workflow "e": throttle.key reads event.data.tags.length: the length of a list or text is size(event.data.tags)',
    'workflow "e": priority reads event.ts, and an event has only id, name, data; did you mean event.data.ts?',
  ])
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

  it('are the app, the runner, its workflows, and a wake-up of runs held without a runner', () => {
    expect(changes({})).toEqual([
      { type: 'app.seen', app: { namespace: 'default', name: 'shop', createdAt: NOW } },
      {
        type: 'runner.registered',
        runner: runner('r1', {
          lastSeenAt: NOW,
          definitions: [{ digest: expect.stringMatching(/^[\w-]{12}$/), since: NOW }],
        }),
      },
      { type: 'workflow.registered', workflow: workflow('order') },
      {
        type: 'definition.changed',
        now: {
          namespace: 'default',
          app: 'shop',
          workflow: 'order',
          registeredAt: workflow('order').updatedAt,
          hash: expect.stringMatching(/^[\w-]{12}$/),
          runner: 'r1',
          definition: { triggers: [{ event: 'order' }], retry: DEFAULT_RETRY, onFailure: false },
        },
      },
      { type: 'app.runnerArrived', namespace: 'default', app: 'shop', at: NOW, workflows: ['order'] },
    ])
  })

  it('of an equal definition write neither it nor its history, also when the store answers its fields in another order', () => {
    const registered = workflow('order', { flowControl: { priority: '1' } })
    const { updatedAt, ...rest } = registered
    const stored = { ...rest, updatedAt: updatedAt - 5, pausedAt: 7 }
    const types = (known: Workflow) => changes({ workflows: [registered], known: () => known }).map(({ type }) => type)
    expect(types(stored)).not.toContain('workflow.registered')
    expect(types(stored)).not.toContain('definition.changed')
    expect(types({ ...stored, onFailure: true })).toContain('definition.changed')
  })

  it('of a changed definition keep the one before, as it was registered', () => {
    const before = workflow('order', { onFailure: true, updatedAt: NOW - 5, pausedAt: 7 })
    const [change] = changes({ known: () => before }).filter(({ type }) => type === 'definition.changed')
    expect(change).toMatchObject({
      before: { registeredAt: NOW - 5, definition: { onFailure: true } },
      now: { registeredAt: workflow('order').updatedAt, runner: 'r1', definition: { onFailure: false } },
    })
    const { before: kept } = change as Extract<Change, { type: 'definition.changed' }>
    expect(kept).not.toHaveProperty('runner')
    expect(kept?.definition).not.toHaveProperty('pausedAt')
    const [of] = changes({ workflows: [{ ...before, pausedAt: undefined }] as Workflow[] }).flatMap(each =>
      each.type === 'definition.changed' ? each.now : [],
    )
    expect(kept?.hash).toBe(of?.hash)
  })

  it('drop none that another runner of the app still serves', () => {
    const others = [runner('r2', { workflows: ['pack'] })]
    expect(dropped({ earlier: runner('r1', { workflows: ['order', 'pack', 'ship'] }), others })).toEqual(['ship'])
  })
})

describe('of runners that disagree', () => {
  const v1 = workflow('order', { triggers: [{ event: 'v1' }] })
  const v2 = workflow('order', { triggers: [{ event: 'v2' }] })

  /** An app on one engine, whose runners register one after the other. */
  function app() {
    const runners = new Map<string, Runner>()
    const defined = new Map<string, Workflow>()
    return {
      registers(runnerId: string, workflows: Workflow[], gone: string[] = []) {
        const names = workflows.map(({ name }) => name)
        const others = [...runners.values()].filter(other => other.runnerId !== runnerId)
        const changes = registrationChanges({
          runner: runner(runnerId, { workflows: names, lastSeenAt: NOW }),
          workflows,
          earlier: runners.get(runnerId),
          others,
          gone: others.filter(other => gone.includes(other.runnerId)),
          known: name => defined.get(name),
        })
        for (const change of changes) {
          if (change.type === 'runner.registered') runners.set(runnerId, change.runner)
          if (change.type === 'workflow.registered') defined.set(change.workflow.name, change.workflow)
          if (change.type === 'workflow.dropped') defined.delete(change.name)
        }
      },
      forgets: (runnerId: string) => runners.delete(runnerId),
      get order() {
        return defined.get('order')?.triggers[0]?.event
      },
    }
  }

  it('the newest definition counts, however often an older one is repeated', () => {
    const shop = app()
    shop.registers('old', [v1])
    shop.registers('new', [v2])
    for (const runnerId of ['old', 'new', 'old', 'old']) {
      shop.registers(runnerId, [runnerId === 'old' ? v1 : v2])
      expect(shop.order).toBe('v2')
    }
  })

  it('what a runner changes is the newest, also if it was the definition before', () => {
    const shop = app()
    shop.registers('a', [v1])
    shop.registers('b', [v2])
    shop.registers('a', [v2])
    shop.registers('b', [v1])
    expect(shop.order).toBe('v1')
    shop.registers('a', [v2])
    expect(shop.order).toBe('v1')
    shop.registers('c', [v2])
    expect(shop.order).toBe('v2')
  })

  it('a runner that has gone yields to those that are there, until it is back', () => {
    const shop = app()
    shop.registers('old', [v1])
    shop.registers('new', [v2])
    shop.registers('old', [v1], ['new'])
    expect(shop.order).toBe('v1')
    shop.registers('new', [v2])
    expect(shop.order).toBe('v2')
    shop.registers('old', [v1])
    expect(shop.order).toBe('v2')
    shop.forgets('new')
    shop.registers('old', [v1])
    expect(shop.order).toBe('v1')
  })

  it('one that serves the workflow no more leaves it to the others', () => {
    const shop = app()
    shop.registers('old', [v1])
    shop.registers('new', [v2])
    shop.registers('new', [workflow('pack')])
    expect(shop.order).toBe('v2')
    shop.registers('old', [v1])
    expect(shop.order).toBe('v1')
    shop.registers('old', [workflow('pack')])
    expect(shop.order).toBeUndefined()
    shop.registers('old', [v1])
    expect(shop.order).toBe('v1')
  })
})

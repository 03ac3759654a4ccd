// The registry: apps, runners and workflows.

import { describe, expect, it } from 'vitest'
import type { Guard } from '../../../../packages/engine/src/domain/model/change.ts'
import { StaleError } from '../../../../packages/engine/src/domain/model/errors.ts'
import { flowRowId } from '../../../../packages/engine/src/domain/model/flow-row.ts'
import type { Receiver } from '../../../../packages/engine/src/domain/model/receiver.ts'
import type { KeptDefinition, Runner, Workflow } from '../../../../packages/engine/src/domain/model/workflow.ts'
import { DEFINITIONS_MAX } from '../../../../packages/engine/src/domain/registry/definition-history.ts'
import { anEvent, aRun, eachStore, moved, NOW, NS, type OpenStore, write } from '../samples.ts'

const runner: Runner = {
  namespace: NS,
  app: 'shop',
  runnerId: 'r1',
  url: 'http://r1',
  workflows: ['order'],
  lastSeenAt: NOW,
}

const workflow: Workflow = {
  namespace: NS,
  app: 'shop',
  name: 'order',
  triggers: [{ event: 'order.paid', if: 'event.data.a > 1' }, { cron: '0 * * * *' }],
  retry: { maxAttempts: 5, initialMs: 1000, factor: 2, maxMs: 300_000, jitter: 0.2 },
  onFailure: false,
  updatedAt: NOW,
}

const receiver: Receiver = {
  namespace: NS,
  id: 'whr_1',
  slug: 'payments',
  eventName: 'payment/received',
  scheme: 'stripe',
  enabled: true,
  secret: 'sealed',
  createdAt: NOW,
  updatedAt: NOW,
  version: 1,
}

export function registryContract(open: OpenStore): void {
  describe('registry', () => {
    const store = eachStore(open)

    it('is empty at first', async () => {
      expect(await store().catalog()).toEqual({
        apps: [],
        stepLimits: [],
        runners: [],
        workflows: [],
        keptPauses: [],
        endpoints: [],
        receivers: [],
      })
    })

    it('keeps the newest limits of steps, until they are dropped or their app is deleted', async () => {
      const limit = (app: string, name: string, limit = 1) => ({ namespace: NS, app, name, limit, periodMs: 1000 })
      const registered = { type: 'limits.registered', namespace: NS, app: 'shop', dropped: [], at: NOW } as const
      const limits = async () => (await store().catalog()).stepLimits.sort((a, b) => (a.name < b.name ? -1 : 1))
      await write(store(), [{ ...registered, limits: [limit('shop', 'a'), limit('shop', 'b'), limit('shop', 'c')] }])
      await write(store(), [{ ...registered, limits: [limit('shop', 'b', 2)], dropped: ['a'] }])
      await write(store(), [{ ...registered, app: 'other', limits: [limit('other', 'd')] }])
      expect(await limits()).toEqual([limit('shop', 'b', 2), limit('shop', 'c'), limit('other', 'd')])
      await write(store(), [{ type: 'app.deleted', namespace: NS, app: 'shop' }])
      expect(await limits()).toEqual([limit('other', 'd')])
    })

    it('removes a runner, and keeps its workflows', async () => {
      const same = { ...runner, app: 'other' }
      await write(store(), [
        { type: 'runner.registered', runner },
        { type: 'runner.registered', runner: same },
        { type: 'workflow.registered', workflow },
      ])
      const forgotten = { type: 'runner.forgotten', namespace: NS, app: 'shop', runnerId: 'r1' } as const
      await write(store(), [forgotten])
      await write(store(), [forgotten])
      const { runners, workflows } = await store().catalog()
      expect(runners).toEqual([same])
      expect(workflows).toEqual([workflow])
    })

    it("keeps a workflow's pause and limits through registrations, also while nobody registers it", async () => {
      const { namespace, app, name } = workflow
      const named = { namespace, app, name }
      const limits = { concurrency: 0, throttle: 5 }
      const registered = { type: 'workflow.registered', workflow } as const
      await write(store(), [
        registered,
        { type: 'workflow.limitsSet', ...named, limits },
        registered,
        { type: 'workflow.dropped', ...named },
      ])
      expect(await store().catalog()).toMatchObject({ workflows: [], keptPauses: [{ ...named, limits }] })
      await write(store(), [registered, { type: 'workflow.paused', ...named, pausedAt: NOW }])
      expect(await store().catalog()).toMatchObject({
        workflows: [{ ...workflow, limits, pausedAt: NOW }],
        keptPauses: [],
      })
      await write(store(), [
        { type: 'workflow.dropped', ...named },
        registered,
        { type: 'workflow.limitsSet', ...named },
      ])
      const { workflows, keptPauses } = await store().catalog()
      expect([workflows, keptPauses]).toEqual([[{ ...workflow, pausedAt: NOW }], []])
    })

    it('keeps the newest time at which a receiver accepted a post, also when it is changed, without a new revision', async () => {
      const saved = (changed: Partial<Receiver> = {}) =>
        write(store(), { type: 'receiver.saved', receiver: { ...receiver, ...changed } })
      const times = (namespace = NS) => store().lastAcceptedAt(namespace, ['whr_1', 'whr_2'])
      await saved()
      await saved({ id: 'whr_2', slug: 'never' })
      const revision = await store().catalogRevision()
      for (const at of [NOW, NOW + 2, NOW + 1])
        await store().receiversAccepted([
          { id: 'whr_1', at },
          { id: 'whr_3', at },
        ])
      expect(await store().catalogRevision()).toBe(revision)
      await saved({ eventName: 'b', version: 2 })
      expect(await times()).toEqual(new Map([['whr_1', NOW + 2]]))
      expect(await times('other')).toEqual(new Map())
      expect(await store().lastAcceptedAt(NS, [])).toEqual(new Map())
      expect((await store().catalog()).receivers).toContainEqual({ ...receiver, eventName: 'b', version: 2 })
    })

    it('refuses units that were decided on an earlier revision; a heartbeat raises none', async () => {
      const [first, heartbeat] = [{ runner }, { runner: { ...runner, lastSeenAt: NOW + 5 }, isRepeat: true }] as const
      await write(store(), { type: 'runner.registered', ...first })
      const revision = await store().catalogRevision()
      const decided = () =>
        store().commit({
          guards: [{ type: 'catalog', revision }],
          changes: [{ type: 'event.recorded', event: anEvent() }],
        })
      await write(store(), { type: 'runner.registered', ...heartbeat })
      await decided()
      await write(store(), { type: 'workflow.registered', workflow })
      await expect(decided()).rejects.toThrow(StaleError)
      expect(await store().catalogRevision()).toBe(revision + 1)
    })

    it('refuses units when the namespace has more of a kind than they allow', async () => {
      const other = { ...runner, namespace: 'other' }
      await write(store(), [
        { type: 'app.seen', app: { namespace: NS, name: 'shop', createdAt: NOW } },
        { type: 'runner.registered', runner },
        { type: 'runner.registered', runner: { ...runner, runnerId: 'r2' } },
        { type: 'runner.registered', runner: other },
        { type: 'workflow.registered', workflow },
      ])
      const counts = { apps: 1, workflows: 1, runners: 2, endpoints: 0, receivers: 0 }
      for (const [type, count] of Object.entries(counts) as [keyof typeof counts, number][]) {
        const decided = (most: number) => store().commit({ guards: [{ type, namespace: NS, most }], changes: [] })
        await decided(count)
        if (count > 0) await expect(decided(count - 1)).rejects.toThrow(`stale ${type} guard`)
      }
    })

    it('refuses units about a runner that has registered since, or that a live run is pinned to', async () => {
      const run = aRun({ app: 'shop', runner: 'r1' })
      await write(store(), [
        { type: 'runner.registered', runner },
        { type: 'runner.registered', runner: { ...runner, runnerId: 'r2' } },
        { type: 'run.created', run },
      ])
      const about = { namespace: NS, app: 'shop', runnerId: 'r1' }
      const decided = (guard: Guard) => store().commit({ guards: [guard], changes: [] })
      await decided({ type: 'runner', ...about, lastSeenAt: NOW })
      await expect(decided({ type: 'runner', ...about, lastSeenAt: NOW - 1 })).rejects.toThrow('stale runner guard')
      await expect(decided({ type: 'runner', ...about, runnerId: 'r3', lastSeenAt: NOW })).rejects.toThrow(StaleError)
      await expect(decided({ type: 'unpinned', ...about })).rejects.toThrow('stale unpinned guard')
      await decided({ type: 'unpinned', ...about, app: 'other' })
      await decided({ type: 'unpinned', ...about, runnerId: 'r2' })
      await write(store(), [moved(run, { status: 'cancelled', finishedAt: NOW })])
      await decided({ type: 'unpinned', ...about })
    })

    it('guard that no run is in flight, and delete a workflow with its flow-control rows, an app, and claims', async () => {
      const run = aRun({ app: 'shop', workflow: 'order' })
      const parts = { namespace: NS, app: 'shop', workflow: 'order', policy: 'batch', key: '' } as const
      const row = { ...parts, id: flowRowId(parts), version: 1, availableAt: NOW, dueAt: NOW, state: '{}' }
      const other = { ...parts, workflow: 'pack' }
      const kept = { ...row, ...other, id: flowRowId(other) }
      const flows = [row, kept].map(row => ({ type: 'flow.saved', row }) as const)
      const app = { namespace: NS, name: 'shop', createdAt: NOW }
      const registered = { type: 'runner.registered', runner } as const
      await write(store(), [registered, { type: 'app.seen', app }, { type: 'run.created', run }, ...flows])
      const decided = (guard: Guard) => store().commit({ guards: [guard], changes: [] })
      const exists = { type: 'registered', namespace: NS, app: 'shop', workflow: 'order' } as const
      await expect(decided(exists)).rejects.toThrow('stale registered guard')
      await write(store(), [{ type: 'workflow.registered', workflow }])
      await decided(exists)
      const of = { type: 'idle', namespace: NS, app: 'shop' } as const
      await expect(decided({ ...of, workflow: 'order' })).rejects.toThrow('stale idle guard')
      await expect(decided(of)).rejects.toThrow('stale idle guard')
      await decided({ ...of, workflow: 'pack' })
      await decided({ ...of, app: 'other' })
      await write(store(), [moved(run, { status: 'cancelled', finishedAt: NOW })])
      await decided(of)

      const deletedWorkflows = [{ name: 'order', digest: 'abc' }]
      const claims = { type: 'runner.workflowsDeleted', namespace: NS, app: 'shop', runnerId: runner.runnerId } as const
      await write(store(), [
        { type: 'workflow.deleted', namespace: NS, app: 'shop', name: 'order' },
        { type: 'app.deleted', namespace: NS, app: 'shop' },
        { ...claims, deletedWorkflows },
      ])
      expect(await store().flowRow(row.id)).toBeUndefined()
      expect(await store().flowRow(kept.id)).toEqual(kept)
      await expect(decided(exists)).rejects.toThrow('stale registered guard')
      // The new registration keeps the list.
      await write(store(), [registered])
      const runners = async () => (await store().catalog()).runners
      expect(await store().catalog()).toMatchObject({ apps: [], runners: [{ deletedWorkflows }] })
      await write(store(), [{ ...claims, deletedWorkflows: [] }])
      expect(await runners()).toEqual([runner])
    })

    it('keeps every field of apps, runners and workflows of every namespace', async () => {
      const app = { namespace: NS, name: 'shop', createdAt: NOW }
      const fullRunner: Required<Runner> = {
        ...runner,
        namespace: 'other',
        workflows: ['pack', 'ship'],
        definitions: [
          { digest: 'abc', since: NOW },
          { digest: 'def', since: NOW + 1 },
        ],
        framework: 'hono',
        runtime: 'node',
        sdkName: '@perdure/sdk',
        version: '1.2.3',
        language: 'typescript',
        region: 'eu',
        keyFingerprint: 'abcd',
        sleeps: true,
        instances: { i1: NOW },
        hasLeft: true,
        deletedWorkflows: [{ name: 'bill', digest: 'ghi' }],
        stepLimits: { openai: { limit: 5, periodMs: 60_000 } },
        features: ['one', 'two'],
      }
      const fullWorkflow: Required<Workflow> = {
        ...workflow,
        namespace: 'other',
        onFailure: true,
        cleanup: true,
        handlerRetries: 3,
        whenExhausted: 'pause',
        retention: { failed: 5 },
        budget: { limits: { usd: 0.5 }, whenExceeded: 'fail' },
        description: 'Ships an order',
        input: { type: 'object' },
        tool: true,
        invokeTimeoutMs: 5000,
        flowControl: { concurrency: [{ limit: 3, scope: 'app' }], timeouts: { queueMs: 5 } },
        attributes: { customer: 'event.data.customer' },
        inheritAttributes: ['customer'],
        pausedAt: NOW,
        limits: { concurrency: 2, throttle: 0 },
      }
      await write(store(), [
        { type: 'app.seen', app },
        { type: 'runner.registered', runner },
        { type: 'runner.registered', runner: fullRunner },
        { type: 'workflow.registered', workflow },
        { type: 'workflow.registered', workflow: fullWorkflow },
      ])
      const catalog = await store().catalog()
      expect(catalog.apps).toEqual([app])
      expect(catalog.runners).toHaveLength(2)
      expect(catalog.runners).toEqual(expect.arrayContaining([runner, fullRunner]))
      expect(catalog.workflows).toHaveLength(2)
      expect(catalog.workflows).toEqual(expect.arrayContaining([workflow, fullWorkflow]))
    })

    it('replaces a registration, whole', async () => {
      await write(store(), [
        { type: 'runner.registered', runner: { ...runner, region: 'eu' } },
        { type: 'workflow.registered', workflow: { ...workflow, flowControl: { priority: '1' } } },
      ])
      const newer = { ...runner, url: 'http://r2', workflows: ['refund'], lastSeenAt: NOW + 5 }
      const changed = { ...workflow, triggers: [{ event: 'x' }], onFailure: true, updatedAt: NOW + 5 }
      await write(store(), [
        { type: 'runner.registered', runner: newer },
        { type: 'workflow.registered', workflow: changed },
      ])
      expect(await store().catalog()).toMatchObject({ runners: [newer], workflows: [changed] })
      const { runners, workflows } = await store().catalog()
      expect(runners).toEqual([newer])
      expect(workflows).toEqual([changed])
    })

    describe('keeps definitions', () => {
      const { namespace, app, name, updatedAt: _, ...definition } = workflow
      const kept = (registeredAt: number, fields: Partial<KeptDefinition> = {}): KeptDefinition => ({
        ...{ namespace, app, workflow: name, registeredAt, hash: `of ${registeredAt}`, definition },
        ...fields,
      })
      const changed = (now: KeptDefinition, before?: KeptDefinition) => ({
        type: 'definition.changed' as const,
        now,
        ...(before && { before }),
      })
      const definitions = (query: { before?: number; limit?: number } = {}, of = { app, workflow: name }) =>
        store()
          .in(namespace)
          .definitions({ ...of, limit: 99, ...query })

      it('of a workflow, the newest first, with the one before where it is missing', async () => {
        const first = kept(NOW, { runner: 'r1' })
        const second = kept(NOW + 5, { definition: { ...definition, onFailure: true } })
        await write(store(), changed(first))
        await write(store(), changed(second, kept(NOW, { hash: 'another' })))
        expect(await definitions()).toEqual([second, first])
        expect(await definitions({ limit: 1 })).toEqual([second])
        expect(await definitions({ before: NOW + 5 })).toEqual([first])
        // The last one of a millisecond counts.
        await write(store(), changed(kept(NOW + 5, { hash: 'last' })))
        expect(await definitions()).toEqual([kept(NOW + 5, { hash: 'last' }), first])
        const older = kept(NOW - 9, { workflow: 'pack' })
        await write(store(), changed(kept(NOW, { workflow: 'pack' }), older))
        expect((await definitions({}, { app, workflow: 'pack' }))[1]).toEqual(older)
        expect(await store().in('other').definitions({ app, workflow: name, limit: 9 })).toEqual([])
        expect(await definitions({}, { app: 'mail', workflow: name })).toEqual([])
      })

      it(`of the newest ${DEFINITIONS_MAX} changes, in pages that end where they get large`, async () => {
        const long = { ...definition, attributes: { text: 'x'.repeat(1024 * 1024) } }
        const times = Array.from({ length: DEFINITIONS_MAX + 3 }, (_, i) => NOW + i)
        for (const at of times) await write(store(), changed(kept(at, at === NOW ? { definition: long } : {})))
        await write(store(), changed(kept(NOW, { workflow: 'pack' })))
        const found = await definitions()
        expect(found.map(({ registeredAt }) => registeredAt)).toEqual(times.slice(3).reverse())
        for (const at of [1, 2, 3, 4, 5, 6, 7])
          await write(store(), changed(kept(NOW + 100 + at, { definition: long })))
        expect(await definitions()).toHaveLength(4)
        expect(await definitions({ before: NOW + 104 })).toHaveLength(50 - 4)
      })

      it('until the workflow is dropped or deleted', async () => {
        for (const type of ['workflow.dropped', 'workflow.deleted'] as const) {
          const other = kept(NOW, { workflow: 'pack' })
          await write(store(), [changed(kept(NOW)), changed(other)], { type, namespace, app, name })
          expect(await definitions()).toEqual([])
          expect(await definitions({}, { app, workflow: 'pack' })).toEqual([other])
        }
      })
    })

    it('drops one workflow', async () => {
      const others = [
        { ...workflow, name: 'refund' },
        { ...workflow, app: 'mail' },
        { ...workflow, namespace: 'other' },
      ]
      await write(
        store(),
        [workflow, ...others].map(each => ({ type: 'workflow.registered' as const, workflow: each })),
        { type: 'workflow.dropped', namespace: NS, app: 'shop', name: 'order' },
      )
      const { workflows } = await store().catalog()
      expect(workflows).toHaveLength(3)
      expect(workflows).toEqual(expect.arrayContaining(others))
    })
  })
}

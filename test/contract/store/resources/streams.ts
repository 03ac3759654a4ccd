// The store contract: output streams of runs (docs/streams.md).

import { describe, expect, it } from 'vitest'
import type { Change } from '../../../../packages/engine/src/domain/model/change.ts'
import { StaleError } from '../../../../packages/engine/src/domain/model/errors.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import type { StreamHead } from '../../../../packages/engine/src/domain/model/stream/stream.ts'
import { messagesOf } from '../../../../packages/engine/src/domain/streams/messages.ts'
import { type Streams, StreamsDraft } from '../../../../packages/engine/src/domain/streams/streams-draft.ts'
import { aRun, created, eachStore, NOW, NS, type OpenStore, write } from '../samples.ts'

const name = 'answer'

export function streamsContract(open: OpenStore): void {
  describe('output streams', () => {
    const store = eachStore(open)
    const headsOf = async ({ id }: Run): Promise<Streams> =>
      new Map((await store().streams.heads(id)).map(head => [head.name, head]))
    const page = ({ id: runId }: Run, from = 0) => store().streams.page({ namespace: NS, runId, name }, from)
    const append = (draft: StreamsDraft, chunks: string[], execution = { pass: 1, attempt: 1 }) =>
      draft.append({ stepId: 'id', step: 'ask', name, seq: 1, chunks, bytes: chunks.join('').length }, execution)

    async function appended(run: Run, ...appends: string[][]): Promise<void> {
      for (const chunks of appends) {
        const draft = new StreamsDraft(run.id, await headsOf(run), NOW)
        expect(append(draft, chunks)).toBeUndefined()
        await write(store(), draft.changes)
      }
    }

    async function aStreamingRun(fields: Partial<Run> = {}): Promise<Run> {
      const run = aRun(fields)
      await write(store(), created(run))
      return run
    }

    it('are read from any position, and stay so when their rows are merged', async () => {
      const run = await aStreamingRun()
      expect(await page(run)).toEqual({ status: run.status, rows: [] })
      await appended(run, ['"a"', '"b"'], ['{"c":[1,2]}'], ['"d"', '"e"'])
      const texts = async (from: number) => messagesOf((await page(run, from))?.rows ?? [], from)
      const before = await Promise.all([0, 1, 2, 4, 5].map(texts))
      expect(before[1]).toEqual([
        '{"n":1,"chunk":"b","step":"ask","attempt":1}',
        '{"n":2,"chunk":{"c":[1,2]}}',
        '{"n":3,"chunk":"d"}',
        '{"n":4,"chunk":"e"}',
      ])
      expect(before.at(-1)).toEqual([])
      expect(await store().streams.sizes(run.id, name, 0, 10)).toMatchObject([
        { n: 0, count: 2, bytes: 7 },
        { n: 2, count: 1 },
        { n: 3, count: 2 },
      ])
      const merged: Change = { type: 'stream.merged', runId: run.id, name, n: 0, end: 5 }
      for (let times = 0; times < 2; times++) {
        await write(store(), [merged])
        expect((await page(run))?.rows).toMatchObject([{ n: 0, count: 5, chunks: '"a","b",{"c":[1,2]},"d","e"' }])
        expect(await Promise.all([0, 1, 2, 4, 5].map(texts))).toEqual(before)
      }
    })

    it('keep what a step has open in their heads, and withdraw it with a message', async () => {
      const run = await aStreamingRun()
      await appended(run, ['"a"', '"b"'])
      const [head] = (await store().streams.heads(run.id)) as [StreamHead]
      expect(head).toMatchObject({
        next: 2,
        chunks: 2,
        bytes: 6,
        open: [{ id: 'id', step: 'ask', first: 0, chunks: 2 }],
      })
      const draft = new StreamsDraft(run.id, await headsOf(run), NOW + 1)
      draft.rollBack('lost', () => true)
      await write(store(), draft.changes)
      expect((await store().streams.heads(run.id))[0]).toMatchObject({
        ...{ next: 3, chunks: 0, bytes: 0, allChunks: 2, allBytes: 6, firstAt: NOW, lastAt: NOW + 1, open: [] },
      })
      expect(await store().streams.rollbacks({ namespace: NS, runId: run.id, name })).toMatchObject([
        { n: 2, rollback: 0, reason: 'lost', step: 'ask', attempt: 1 },
      ])
    })

    it('take no append of an engine that has not the lease, nor one that was decided on an older head', async () => {
      const run = await aStreamingRun({ leaseOwner: 'here', status: 'running' })
      const heads = await headsOf(run)
      const draft = new StreamsDraft(run.id, heads, NOW)
      append(draft, ['1'])
      const unit = (owner: string) => ({
        guards: [{ type: 'leased' as const, runId: run.id, owner }],
        changes: draft.changes,
      })
      await expect(store().commit(unit('elsewhere'))).rejects.toThrow(StaleError)
      expect(await store().streams.heads(run.id)).toEqual([])
      await store().commit(unit('here'))
      const old = new StreamsDraft(run.id, await headsOf(run), NOW)
      append(old, ['2'])
      await appended(run, ['3'])
      await expect(write(store(), old.changes)).rejects.toThrow()
      expect((await page(run))?.rows.map(({ chunks }) => chunks)).toEqual(['1', '3'])
    })

    it('belong to one namespace, and go with their run', async () => {
      const run = await aStreamingRun()
      await appended(run, ['1'])
      expect(await store().streams.page({ namespace: 'other', runId: run.id, name }, 0)).toBeUndefined()
      expect(await store().streams.list({ namespace: 'other', runId: run.id })).toBeUndefined()
      expect((await store().streams.list({ namespace: NS, runId: run.id }))?.heads).toHaveLength(1)
      await write(store(), [{ type: 'run.erased', namespace: NS, runId: run.id, eventIds: [], at: NOW }])
      expect(await store().streams.heads(run.id)).toEqual([])
      expect(await store().streams.sizes(run.id, name, 0, 10)).toEqual([])
    })

    it('lose their rows after a retention of their own, and keep their heads', async () => {
      const ended = await aStreamingRun({ status: 'succeeded', finishedAt: NOW })
      const live = await aStreamingRun()
      for (const run of [ended, live]) await appended(run, ['1'], ['2'])
      const prune = (before: number) => store().prune({ rows: 'streams', before, limit: 10 })
      expect(await prune(NOW)).toBe(0)
      expect([await prune(NOW + 1), await prune(NOW + 1)]).toEqual([1, 0])
      expect(await page(ended)).toMatchObject({ head: { dropped: true, next: 2 }, rows: [] })
      expect((await page(live))?.rows).toHaveLength(2)
    })
  })
}

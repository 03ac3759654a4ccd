// Strings are stored exactly: every string is read back as written, and can be found as a key.

import { describe, expect, it } from 'vitest'
import type { Guard } from '../../../../packages/engine/src/domain/model/change.ts'
import { StaleError } from '../../../../packages/engine/src/domain/model/errors.ts'
import {
  aDelivery,
  aLeasedRun,
  aLine,
  anEvent,
  aRun,
  aStep,
  aWait,
  created,
  NOW,
  type OpenStore,
  oneStore,
  write,
} from '../samples.ts'

const STRINGS = {
  empty: '',
  nul: '\0',
  'nul inside': 'a\0b',
  'lone high surrogate': 'x\ud800',
  'lone low surrogate': '\udc00y',
  'surrogates the wrong way round': '\udc00\ud800',
  emoji: 'ok 😀',
  'nul and emoji': '😀\0',
  'every control character': String.fromCharCode(...Array.from({ length: 32 }, (_, i) => i)),
  'the mark of stored text': '\u001a',
  'the mark and JSON': '\u001a"a"',
  quotes: `'"\`; DROP TABLE runs; --`,
  'last code points': '\uffff\u{10ffff}',
  'a byte order mark': '\ufeffa',
  long: `${'é'.repeat(70_000)}\0`,
}

/** `nameCharsMax`: the maximum where names are keys of an index that bounds them. The interface bounds names at 256. */
export function stringsContract(open: OpenStore, nameCharsMax = Number.POSITIVE_INFINITY): void {
  describe('strings to the letter', () => {
    const store = oneStore(open)

    for (const [name, text] of Object.entries(STRINGS)) {
      it(`keeps ${name}`, async () => {
        const key = text.slice(0, nameCharsMax)
        const namespace = `ns ${key}`
        const json = JSON.stringify({ [text]: text })
        const error = { message: text, stack: text, name: text }
        const run = aLeasedRun({
          namespace,
          workflow: key,
          app: key,
          eventName: text,
          cron: text,
          runner: text,
          trigger: { id: text, name: text },
          failure: error,
          error: { ...error, stepName: text },
          waitingFor: { kind: 'event', stepName: text, eventName: text, key: text },
          input: json,
          result: json,
          leaseOwner: text,
        })
        const step = aStep(run, { id: text, name: text, data: json, error, eventName: text, condition: text })
        const line = aLine(run, { message: text, fields: json, scope: `s${text}`, dedupe: key })
        const event = anEvent({
          namespace,
          name: key,
          app: key,
          data: json,
          triggered: [{ workflow: text, app: text }],
        })
        const delivery = aDelivery({ namespace, app: key, url: text, payload: json })
        const attempt = {
          id: 'att',
          deliveryId: delivery.id,
          attempt: 1,
          durationMs: 1,
          createdAt: NOW,
          error: text,
          responseSnippet: text,
        }
        const runner = {
          namespace,
          app: key,
          runnerId: key,
          url: text,
          workflows: [text],
          lastSeenAt: NOW,
          region: text,
        }
        await write(
          store(),
          created(run, step),
          { type: 'log.written', line },
          { type: 'event.recorded', event },
          { type: 'delivery.created', delivery },
          { type: 'delivery.attempted', attempt: { ...attempt, outcome: 'connection_error' } },
          { type: 'app.seen', app: { namespace, name: key, createdAt: NOW } },
          { type: 'runner.registered', runner },
        )
        const reads = store().in(namespace)
        expect(await store().loadRun(run.id)).toEqual({ run, steps: [step], rootLogged: 0 })
        expect(await reads.logs(run.id, { from: 0, limit: 1 })).toEqual([line])
        expect(await reads.event(event.id)).toEqual(event)
        expect(await reads.delivery(delivery.id)).toMatchObject({ delivery, attempts: [attempt] })
        const { apps, runners } = await store().catalog()
        expect(apps.filter(app => app.namespace === namespace)).toMatchObject([{ name: key }])
        expect(runners.filter(found => found.namespace === namespace)).toEqual([runner])
        expect((await reads.runs({ app: key, limit: 1 })).map(({ id }) => id)).toEqual([run.id])
        expect((await reads.events({ name: key, app: key, limit: 1 })).map(found => found.event)).toEqual([event])
        const { frames } = await reads.timeline(run.id, { after: 2, limit: 10, openFrom: 0 })
        expect(frames).toMatchObject([
          { kind: 'step_status', name: text, error },
          { kind: 'log', message: text, scope: `s${text}`, fields: json },
        ])
        const claimed = await store().claimRuns({
          owner: text,
          now: NOW + 20_000,
          leaseUntil: NOW + 30_000,
          limit: 1,
        })
        expect(claimed).toMatchObject([{ run: { leaseOwner: text, input: json }, steps: [step] }])
      })
    }

    it('distinguishes keys that differ only there', async () => {
      const ids = ['d', 'd\0', 'd\0x', 'd\ud800', 'd\udbff', 'd\ufffd', '\u001a"d"', '\u001a']
      for (const dedupeId of ids) {
        const key = { namespace: 'n', app: '', dedupeId }
        const unit = {
          guards: [{ type: 'dedupe', ...key, now: NOW } as Guard],
          changes: [{ type: 'dedupe.claimed' as const, ...key, expiresAt: NOW + 9 }],
        }
        await store().commit(unit)
        await expect(store().commit(unit), JSON.stringify(dedupeId)).rejects.toThrow(StaleError)
      }
    })

    it('finds waits by names that differ only there', async () => {
      for (const name of ['go', 'go\0', 'go\ud800', 'go\ud801']) {
        const run = aRun({ namespace: 'n' })
        await write(store(), created(run, aWait(run, { eventName: name })))
        expect(
          (await store().waiters({ namespace: 'n', eventName: name })).waiters,
          JSON.stringify(name),
        ).toMatchObject([{ runId: run.id }])
      }
    })

    it('finds no row by an id with more behind it', async () => {
      const run = aRun({ namespace: 'n' })
      await write(store(), created(run))
      expect(await store().in('n').run(`${run.id}\0more`)).toBeUndefined()
      expect(await store().in('n\0x').run(run.id)).toBeUndefined()
    })

    it('keeps numbers in JSON text as they came', async () => {
      const input = '{ "n" : 12345678901234567890.10, "dup":1,"dup":2 ,"e":1E400, "u":"\\ud800\\u0000" }'
      const run = aRun({ input })
      await write(store(), created(run))
      expect((await store().loadRun(run.id))?.run.input).toBe(input)
    })
  })
}

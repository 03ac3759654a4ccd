// Waits and watches with a match: which ones an event is compared with, and the guards and questions of the decision.

import { describe, expect, it } from 'vitest'
import { EventSubject } from '../../expressions/event-subject.ts'
import { eventMatchKey, pathsDigest } from '../../expressions/match.ts'
import type { Waiter, Watcher } from '../../model/event.ts'
import { type Assumptions, matchName, noAssumptions } from '../../run/assumptions.ts'
import { waitersFor, watchersFor } from './found.ts'

const EVENT = { namespace: 'default', name: 'go' }
const AT = { namespace: 'default', eventName: 'go' }
const PATHS = [['data.id'], ['data.a', 'data.b']]
const digests = PATHS.map(pathsDigest)
const subject = new EventSubject({ name: 'go', data: '{"id":7}' })
const matchKey = eventMatchKey(['data.id'], subject) as string

const given = (fields: Partial<Assumptions>): Assumptions => ({ ...noAssumptions(), ...fields })
const waiter = (runId: string, since: number): Waiter => ({ runId, stepIndex: 0, since })

describe('waits', () => {
  const [plain, matched] = [waiter('plain', 2), waiter('matched', 1)]
  const known = {
    waiters: new Map([['go', [plain]]]),
    paths: new Map([[matchName('waiters', 'go'), PATHS]]),
  }

  it('with the key of the event are asked for, of each list of paths that the event has', () => {
    const { questions } = waitersFor(EVENT, subject, given(known))
    expect(questions).toEqual([{ type: 'matched', kind: 'waiters', ...AT, matchKey }])
  })

  it('with and without the key come oldest first, guarded by the keys, the lists and the others', () => {
    const matchedWaiters = new Map([[matchName('waiters', 'go', matchKey), [matched]]])
    expect(waitersFor(EVENT, subject, given({ ...known, matchedWaiters }))).toEqual({
      rows: [matched, plain],
      guards: [
        { type: 'waiters', ...AT, matchKey: null, waiters: [plain] },
        { type: 'waitPaths', ...AT, digests },
        { type: 'waiters', ...AT, matchKey, waiters: [matched] },
      ],
      questions: [],
    })
  })
})

describe('watches', () => {
  const [plain, matched]: Watcher[] = [{ runId: 'plain' }, { runId: 'matched' }] as const
  const watchers = new Map([['go', { watchers: [plain as Watcher], after: 5 }]])
  const paths = new Map([[matchName('watchers', 'go'), PATHS]])

  it('with the key of the event are asked for, and guarded page by page', () => {
    expect(watchersFor(EVENT, subject, given({ watchers, paths })).questions).toEqual([
      { type: 'matched', kind: 'watchers', ...AT, matchKey },
    ])
    const read = { watchers: [matched as Watcher], after: 9 }
    const matchedWatchers = new Map([[matchName('watchers', 'go', matchKey), read]])
    expect(watchersFor(EVENT, subject, given({ watchers, paths, matchedWatchers }))).toEqual({
      rows: [plain, matched],
      guards: [
        { type: 'watchers', ...AT, after: 5, matchKey: null },
        { type: 'watchPaths', ...AT, digests },
        { type: 'watchers', ...AT, after: 9, matchKey },
      ],
      questions: [],
    })
  })

  it('of a name with too many lists rest on all watches for the name', () => {
    const whole = new Map([['go', { watchers: [plain as Watcher], after: 5, isWhole: true as const }]])
    expect(watchersFor(EVENT, subject, given({ watchers: whole })).guards).toEqual([
      { type: 'watchers', ...AT, after: 5 },
    ])
  })
})

// Fills a store with finished and sleeping runs, as after a busy month. Workloads call it before their engine starts.

import type { Change } from '../../../packages/engine/src/domain/model/change.ts'
import type { Run, RunStatus } from '../../../packages/engine/src/domain/model/run.ts'
import { derivedId } from '../../../packages/engine/src/domain/text/ids.ts'
import { errorFingerprint } from '../../../packages/engine/src/domain/view/errors/error-fingerprint.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import { seeded } from '../../../test/kit/seeded.ts'
import { commitAll, queuedRun } from '../../rig/store.ts'

const APPS = 10
const WORKFLOWS = 20
/** Number of ended runs that are counted in one transaction. */
const PER_COUNT = 2000
/** One run every 2.6 s: a million in a month. */
export const APART_MS = 2600
const FIRST_AT = Date.UTC(2030, 0, 1)
/** Number of runs with the rare attribute, spread over the whole time. */
const RARE_RUNS = 100
/** Children of the one parent. */
const CHILDREN_MAX = 5000
/** The kinds of runs follow each other in turn. */
const KINDS = 20
/** Kinds from this one on match none of the filters of `APART`, and resemble those of a usual month. */
const FREE_KINDS_FROM = 13

export const RARE_ATTRIBUTE = 'customer:c-rare'

/**
 * Filters that each match many runs. No run matches two of them, so a list with two of these filters is the worst case of the
 * pair. Next to each filter are the kinds of runs, of 20, that it matches.
 */
const KINDS_OF = {
  app: [0, 1],
  workflow: [2, 3],
  attribute: [4, 5],
  otherAttribute: [6, 7],
  error: [8],
  cron: [9],
  waiting: [10],
  cancelled: [11],
  parent: [12],
} as const
export const APART = {
  app: 'app-apart',
  workflow: 'workflow-apart',
  attribute: 'region:north',
  otherAttribute: 'region:south',
  error: { message: 'the payment provider answered too late', code: 'step_failed' },
} as const

export interface Sample {
  /** An event that started two runs. */
  eventId: string
  /** A run that was replayed. */
  replayedId: string
  /** A run with thousands of children. */
  parentId: string
  /** The fingerprint of the error of `APART`. */
  fingerprint: string
  /** The newest hundredth of the runs was created at or after this time. */
  recentFrom: number
  /** The newest was created before this time, and all ended before it. */
  until: number
}

/** Writes the runs, and counts their ends into the roll-ups. */
export async function insertRuns(store: Store, count: number, firstAt = FIRST_AT): Promise<Sample> {
  const { next: random } = seeded(1)
  const sample = { eventId: '', replayedId: '', parentId: '', fingerprint: '' }
  let previous: Run | undefined
  function* changes(): Generator<Change> {
    for (let i = 0; i < count; i++) {
      const { parentId } = sample
      const run = listedRun({ i, createdAt: firstAt + i * APART_MS, count, random, previous, parentId })
      sample.parentId ||= run.id
      if (isOf('error', i)) sample.fingerprint ||= errorFingerprint(run) ?? ''
      if (run.eventId !== undefined && i <= count / 2) sample.eventId = run.eventId
      if (run.replayOf !== undefined && i <= count / 2) sample.replayedId = run.replayOf
      previous = run
      yield { type: 'run.created', run }
    }
  }
  await commitAll(store, changes())
  const until = firstAt + (count + 1000) * APART_MS
  while ((await store.countEnds({ before: until, limit: PER_COUNT })) === PER_COUNT);
  return { ...sample, recentFrom: firstAt + Math.floor(count * 0.99) * APART_MS, until }
}

const isOf = (kind: keyof typeof KINDS_OF, i: number) => (KINDS_OF[kind] as readonly number[]).includes(i % KINDS)

interface Listed {
  i: number
  createdAt: number
  count: number
  random: () => number
  previous: Run | undefined
  parentId: string
}

function listedRun({ i, createdAt, count, random, previous, parentId }: Listed): Run {
  const status = statusOf(i, random())
  const isCron = isOf('cron', i)
  const isFork = !isCron && previous !== undefined && random() < 0.01
  // Some apps and workflows are much busier than others.
  const app = isOf('app', i) ? APART.app : `app-${Math.floor(random() ** 2 * APPS)}`
  const workflow = isOf('workflow', i) ? APART.workflow : `workflow-${Math.floor(random() ** 2 * WORKFLOWS)}`
  const isChild = isOf('parent', i) && i > 0 && i < (CHILDREN_MAX * KINDS * count) / 1_000_000
  const origin: Partial<Run> = isCron
    ? { cron: '* * * * *' }
    : {
        eventName: 'order/created',
        ...(isFork ? { replayOf: previous.id } : { eventId: derivedId('evt', createdAt, String(i >> 1)) }),
        ...(isChild ? { parentRunId: parentId, parentStepIndex: 0 } : {}),
      }
  const one = isOf('error', i)
  const end: Partial<Run> =
    status === 'waiting'
      ? { waitingFor: { kind: 'event', eventName: 'never' } }
      : { finishedAt: createdAt + 5 + Math.floor(20 * Math.exp(6 * random())), finishedSeq: 9 }
  const error: Run['error'] = one ? APART.error : { message: 'the card was refused', code: 'step_failed' }
  return queuedRun({
    id: derivedId('run', createdAt, String(i)),
    workflow: one ? 'workflow-0' : workflow,
    app: one ? 'app-0' : app,
    status,
    triggerKind: isCron ? 'cron' : 'event',
    input: JSON.stringify({ orderId: i, customer: `customer-${i % 1000}`, lines: ['one', 'two', 'three'] }),
    createdAt,
    startedAt: createdAt + 5,
    startedSeq: 2,
    ...origin,
    ...end,
    ...(status === 'succeeded' && { result: JSON.stringify({ done: true, order: i }) }),
    ...(status === 'failed' && { error }),
    ...attributesOf(i, count),
  })
}

function attributesOf(i: number, count: number): Pick<Run, 'attributes'> {
  const [commonKey, common] = APART.attribute.split(':') as [string, string]
  const [otherKey, other] = APART.otherAttribute.split(':') as [string, string]
  const attributes = {
    ...(i % Math.max(1, Math.floor(count / RARE_RUNS)) === 0 ? { customer: 'c-rare' } : {}),
    ...(isOf('attribute', i) ? { [commonKey]: common } : {}),
    ...(isOf('otherAttribute', i) ? { [otherKey]: other } : {}),
  }
  return Object.keys(attributes).length === 0 ? {} : { attributes }
}

/** Returns the status of a run: most have succeeded, except the kinds that are defined by a status. */
function statusOf(i: number, chance: number): RunStatus {
  if (isOf('error', i)) return 'failed'
  if (isOf('waiting', i)) return 'waiting'
  if (isOf('cancelled', i)) return 'cancelled'
  if (i % KINDS < FREE_KINDS_FROM) return 'succeeded'
  return chance < 0.9 ? 'succeeded' : 'failed'
}

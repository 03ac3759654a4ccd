// WAITS: the cost of an event when 10,000 runs wait for its name, with `if` and with `match`, where one of them is woken and
// where none is; and the same for runs that `cancelOn` watches over. One event after the other, through POST /events.

import { waitMatchKey } from '../../packages/engine/src/domain/expressions/match.ts'
import type { Change } from '../../packages/engine/src/domain/model/change.ts'
import type { Run } from '../../packages/engine/src/domain/model/run.ts'
import { derivedId } from '../../packages/engine/src/domain/text/ids.ts'
import type { Store } from '../../packages/engine/src/ports/store.ts'
import { Api } from '../load/api.ts'
import { timed } from '../measure/latency.ts'
import type { Figures, Outcome } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { onRig } from '../rig/rig.ts'
import { commitAll, databaseName, queuedRun } from '../rig/store.ts'

const WAITS = 10_000
const SAMPLES = 300
/** Slow measurements end after this time. */
const SPENT_MS_MAX = 20_000
const WARM_UP = 50

const CONDITIONS = {
  if: { if: 'async.data.id == event.data.id' },
  match: { match: 'data.id' },
} as const
type Kind = keyof typeof CONDITIONS
const KINDS = Object.keys(CONDITIONS) as Kind[]

export function waits(options: BenchOptions): Promise<Outcome> {
  const at = Date.now()
  const fill = async (store: Store) => {
    for (const kind of KINDS) {
      await commitAll(store, waiting(kind, at))
      await commitAll(store, watching(kind, at))
    }
  }
  return onRig(options, { fill, kind: 'none' }, async rig => {
    const api = new Api(rig.engine.url)
    const figures: Record<string, Figures> = {}
    const problems: string[] = []
    for (const kind of KINDS) {
      let next = 0
      const send = async (name: string, id: unknown, woke: number) => {
        const reply = await api.post<{ woke: number }>('/events', { name: `${kind}/${name}`, data: { id } })
        if (reply.woke !== woke) problems.push(`an event with ${kind} woke ${reply.woke} runs, not ${woke}`)
      }
      for (let i = 0; i < WARM_UP; i++) await send('nobody', i, 0)
      const sampling = { samples: SAMPLES, spentMsMax: SPENT_MS_MAX }
      const nobody = await timed(() => send('nobody', 'none', 0), sampling)
      const none = await timed(() => send('paid', 'none', 0), sampling)
      const one = await timed(() => send('paid', next++, 1), sampling)
      const cancels = await timed(() => send('stop', next++, 0), sampling)
      figures[kind] = {
        'of another name p50 ms': nobody.p50,
        'none woken p50 ms': none.p50,
        'one woken p50 ms': one.p50,
        'one woken p99 ms': one.p99,
        'one cancelled p50 ms': cancels.p50,
      }
    }
    await api.close()
    return {
      title: `events beside ${WAITS.toLocaleString('en-US')} waits for their name, on ${databaseName(options)}`,
      figures,
      problems,
    }
  })
}

/** Yields runs that each wait for one event. */
function* waiting(kind: Kind, at: number): Generator<Change> {
  const condition = CONDITIONS[kind]
  for (let n = 0; n < WAITS; n++) {
    const run = parked(`${kind} wait ${n}`, n, at)
    const match = 'match' in condition ? condition.match : undefined
    yield { type: 'run.created', run }
    yield {
      type: 'step.recorded',
      step: {
        runId: run.id,
        id: 'paid',
        name: 'paid',
        op: 'WaitForEvent',
        index: 0,
        status: 'waiting',
        attempt: 1,
        seq: 3,
        startedAt: at,
        eventName: `${kind}/paid`,
        ...('if' in condition ? { condition: condition.if } : {}),
        ...(match === undefined ? {} : { match, matchKey: waitMatchKey(match, { ...run.trigger, data: run.input }) }),
      },
    }
  }
}

/** Yields runs that each can be cancelled by a different event. */
function* watching(kind: Kind, at: number): Generator<Change> {
  const cancelOn = [{ event: `${kind}/stop`, ...CONDITIONS[kind] }]
  for (let n = 0; n < WAITS; n++)
    yield { type: 'run.created', run: { ...parked(`${kind} watch ${n}`, n, at), cancelOn } }
}

function parked(name: string, n: number, at: number): Run {
  const id = derivedId('run', at, name)
  const place = { workflow: 'waits', app: 'bench', input: JSON.stringify({ id: n }) }
  const { availableAt: _, ...run } = queuedRun({ id, createdAt: at, ...place })
  return { ...run, status: 'waiting', startedAt: at, startedSeq: 2 }
}

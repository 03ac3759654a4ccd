// Reads schedules for the routes: the crons of workflows from the registry, the schedules of the API from the store, each with
// the status of the run that it started last.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ScheduleEntry } from '@perdure/protocol'
import { eventSchedule, scheduleRowId } from '../../../domain/arrival/schedule/event-schedule.ts'
import { cronsOf } from '../../../domain/arrival/schedules.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { cronScheduleId, isCronId } from '../../../services/event/schedules.ts'
import type { HttpDeps } from '../../access/deps.ts'
import { notFound } from '../../request/query.ts'
import { type CronEntry, entryText, type ListedSchedule } from './present-schedule.ts'

/** Rows written in one turn of the event loop: the next instants of a cron take 1.5 ms. */
const ROWS_PER_TURN = 5

interface ScheduleQuery {
  source: ScheduleEntry['source'] | undefined
  limit: number
  /** The id of the last schedule on the previous page. */
  after: string | undefined
}

interface SortPosition {
  at: number
  id: string
}

interface SortedQuery extends Omit<ScheduleQuery, 'after'> {
  sort: 'next' | 'missed'
  after: SortPosition | undefined
}

const cronKey = ({ cron, workflow: { app, name } }: Pick<CronEntry, 'cron' | 'workflow'>) =>
  JSON.stringify([app, name, cron])

export class ScheduleReads {
  readonly #deps: Pick<HttpDeps, 'store' | 'registry' | 'clock'>

  constructor(deps: Pick<HttpDeps, 'store' | 'registry' | 'clock'>) {
    this.#deps = deps
  }

  /** Crons first. `next` is the id after which the next page begins, if there is one. */
  async page(
    namespace: string,
    { source, limit, after }: ScheduleQuery,
    signal: AbortSignal,
  ): Promise<{ texts: JsonText[]; next: string | undefined }> {
    const isAmongCrons = source !== 'api' && (after === undefined || isCronId(after))
    const crons = isAmongCrons ? await this.#crons(namespace) : []
    const following = crons.filter(({ id }) => after === undefined || id > after)
    const rows: ListedSchedule[] = following.slice(0, limit)
    let more = following.length > limit
    if (!more && source !== 'workflow') {
      const read = async (after: string | undefined, limit: number) =>
        (await this.#deps.store.in(namespace).eventSchedules({ after, limit }, signal)).map(eventSchedule)
      const first = isAmongCrons ? undefined : after
      const own = rows.length === limit ? [] : await read(first, limit - rows.length)
      rows.push(...own)
      // A page may end early if its data is large, so only an empty one shows that nothing follows.
      more = (await read(own.at(-1)?.id ?? first, 1)).length > 0
    }
    return { texts: await this.texts(namespace, rows, signal), next: more ? rows.at(-1)?.id : undefined }
  }

  /** Sorts by the next instant, or by missed ones. Leaves out a row whose workflow is gone. */
  async sorted(
    namespace: string,
    { source, sort, limit, after }: SortedQuery,
    signal: AbortSignal,
  ): Promise<{ texts: JsonText[]; next: SortPosition | undefined }> {
    const reads = this.#deps.store.in(namespace)
    const policy = source && ({ workflow: 'cron', api: 'schedule' } as const)[source]
    const rows = await reads.sortedSchedules({ sort, policy, limit, after }, signal)
    const hasCrons = rows.some(({ row }) => row.policy === 'cron')
    const crons = new Map((hasCrons ? await this.#crons(namespace) : []).map(entry => [cronKey(entry), entry]))
    const listed = rows.flatMap(({ row }): ListedSchedule[] => {
      if (row.policy === 'schedule') return [eventSchedule(row)]
      const { app, workflow: name, key: cron } = row
      return [crons.get(cronKey({ cron, workflow: { app, name } })) ?? []].flat()
    })
    const last = rows.at(-1)
    const next = last && { at: last.at, id: last.row.id }
    // A page may end early if its data is large, so only an empty one shows that nothing follows.
    const more =
      next !== undefined && (await reads.sortedSchedules({ sort, policy, limit: 1, after: next }, signal)).length > 0
    return { texts: await this.texts(namespace, listed, signal), next: more ? next : undefined }
  }

  /** @throws EngineError `not_found`. */
  async text(namespace: string, id: string): Promise<JsonText> {
    const { store } = this.#deps
    const row = await store.flowRow(scheduleRowId(namespace, id))
    const schedule = row ? eventSchedule(row) : (await this.#crons(namespace)).find(entry => entry.id === id)
    if (!schedule) throw notFound('schedule')
    const [text] = await this.texts(namespace, [schedule])
    return text as JsonText
  }

  async texts(namespace: string, listed: readonly ListedSchedule[], signal?: AbortSignal): Promise<JsonText[]> {
    const { store, clock } = this.#deps
    const ids = listed.flatMap(schedule => schedule.lastRunId ?? [])
    const runs = ids.length === 0 ? [] : await store.in(namespace).runs({ ids, limit: ids.length }, signal)
    const statusOf = new Map(runs.map(({ id, status }) => [id, status]))
    const now = clock.now()
    const texts: JsonText[] = []
    for (const schedule of listed) {
      if (texts.length % ROWS_PER_TURN === ROWS_PER_TURN - 1) await nextTurn()
      texts.push(entryText(schedule, { now, lastStatus: statusOf.get(schedule.lastRunId ?? '') }))
    }
    return texts
  }

  /** By id. */
  async #crons(namespace: string): Promise<CronEntry[]> {
    const entries = (await this.#deps.registry.workflows(namespace)).flatMap(workflow =>
      [...cronsOf(workflow)].flatMap((cron, n) => {
        const schedule = workflow.schedules.find(schedule => schedule.cron === cron)
        return schedule ? [{ ...schedule, id: cronScheduleId(workflow, n), workflow }] : []
      }),
    )
    // By code unit: the order must not depend on the machine's locale.
    return entries.sort((a, b) => (a.id < b.id ? -1 : 1))
  }
}

// The work of the engines in sentences: lanes, writes, streams and the limiter. Pure.

import type { Calls } from '@perdure/client'
import { durationText } from '../../ui/duration.ts'
import type { Sample } from './metrics.ts'

type Engine = Calls['listEngines']['reply'][number]
export type Lane = Engine['lanes'][number]

/** A lane that is further behind than this needs attention. */
export const LAG_MS_MAX = 10_000

export const LANES: Readonly<Record<Lane['lane'], string>> = {
  runs: 'runs',
  deliveries: 'webhook deliveries',
  timers: 'timers',
}

/** Returns a sentence for each lane, across all engines of the store. */
export function laneWords(engines: readonly Pick<Engine, 'lanes'>[]): { lane: Lane['lane']; sentence: string }[] {
  const lanes = Object.keys(LANES) as Lane['lane'][]
  return lanes.flatMap(lane => {
    const found = engines.flatMap(engine => engine.lanes.filter(each => each.lane === lane))
    if (found.length === 0) return []
    const sum = (of: 'inFlight' | 'max') => found.reduce((total, each) => total + each[of], 0)
    const use = `${sum('inFlight')} of at most ${sum('max')} ${LANES[lane]} in progress`
    return [{ lane, sentence: `${use}; ${lagWords(lagOf(found))}.` }]
  })
}

/** Returns how far the lane is behind, which is the same for all engines of a store; undefined if unknown. */
function lagOf(lanes: readonly Lane[]): number | undefined {
  const known = lanes.flatMap(({ lagMs }) => lagMs ?? [])
  return known.length === 0 ? undefined : Math.max(...known)
}

function lagWords(lagMs: number | undefined): string {
  if (lagMs === undefined) return 'backlog unknown'
  return lagMs === 0 ? 'no backlog' : `the oldest due item has waited ${durationText(lagMs)}`
}

/** Returns sentences about the metrics of the engine that answers. Sentences without numbers are left out. */
export function metricWords(samples: readonly Sample[]): string[] {
  const sumOf = (name: string) => {
    const found = samples.filter(sample => sample.name === name)
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + Number(value), 0)
  }
  const commits = sumOf('perdure_store_commits_total')
  const batches = sumOf('perdure_store_batch_requests_count')
  const writes = sumOf('perdure_store_batch_requests_sum')
  const pending = sumOf('perdure_store_pending_requests')
  const streams = sumOf('perdure_streams_open')
  const sockets = sumOf('perdure_connect_sockets')
  const limiter = sumOf('perdure_limiter_entries')
  return [
    commits !== undefined && `${commits} commits since startup.`,
    !!batches && writes !== undefined && `${(writes / batches).toFixed(1)} writes per batch on average.`,
    pending !== undefined && `${pending} ${pending === 1 ? 'write is' : 'writes are'} waiting for the disk.`,
    streams !== undefined && `${streams} open ${streams === 1 ? 'stream' : 'streams'}.`,
    sockets !== undefined && `${sockets} Connect ${sockets === 1 ? 'runner' : 'runners'} connected.`,
    limiter !== undefined && `${limiter} rate-limit ${limiter === 1 ? 'counter' : 'counters'} in memory.`,
  ].filter(sentence => sentence !== false)
}

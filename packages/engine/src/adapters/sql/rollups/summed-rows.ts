// Sums of roll-up rows, added up by SQL: a read returns a row for each group, not for each span. Used by the queries of series
// and totals.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { addDurations, type Durations } from '../../../domain/view/durations.ts'
import { addTally, type Ends, emptyTally, type RunTally } from '../../../domain/view/run-tally.ts'
import type { Row } from '../description/values.ts'

const ENDS = ['succeeded', 'failed', 'cancelled']
/** The prefixes of the columns that count ends of runs that follow another. */
const FOLLOW_ON = ['on_failure', 'cleanup']
const SUMS = ['started', ...ENDS, ...FOLLOW_ON.flatMap(kind => ENDS.map(name => `${kind}_${name}`))]
  .map(sumOf)
  .join(', ')
/**
 * Counts of durations are returned as stored, one after the other: neither database adds them up as quickly as `storedCounts`.
 */
const TIMES = `${sumOf('sum_ms')}, ${sumOf('queue_sum_ms')}, string_agg(run_rollups.histogram, ''), string_agg(run_rollups.queue_histogram, '')`

/** More classes than there are durations up to 2^53 ms. */
const CLASSES_MAX = 256
/** Number of characters of stored counts read before the event loop turns: some ms. */
const CHARS_AT_ONCE = 1_000_000

function sumOf(column: string): string {
  return `CAST(sum(run_rollups.${column}) AS bigint)`
}

/** The columns of a group after those that name it. Without times, its tally has no durations. */
export function summedColumns(withTimes: boolean): string {
  return withTimes ? `${SUMS}, ${TIMES}` : SUMS
}

/** Adds each row to the tally that the columns before the sums name. */
export async function addSummedRows(
  rows: readonly Row[],
  names: number,
  tallyOf: (row: Row) => RunTally,
): Promise<void> {
  let chars = 0
  for (const row of rows) {
    const sums = row.slice(names)
    const [started = 0, ...ends] = sums.slice(0, 1 + 3 * ENDS.length) as (number | null)[]
    const [sumMs, queueSumMs, ...texts] = sums.slice(1 + 3 * ENDS.length) as [
      sumMs?: number,
      queueSumMs?: number,
      histogram?: string,
      queueHistogram?: string,
    ]
    const tally = tallyOf(row)
    const [onFailure, cleanup] = [endsAt(ends, 1), endsAt(ends, 2)]
    addTally(tally, { ...emptyTally(), started: started ?? 0, ...endsAt(ends, 0), onFailure, cleanup })
    const [histogram, queueHistogram] = texts
    if (histogram === undefined || queueHistogram === undefined) continue
    addDurations(tally.durations, { sumMs: sumMs ?? 0, counts: storedCounts(histogram) })
    addDurations(tally.queueTimes, { sumMs: queueSumMs ?? 0, counts: storedCounts(queueHistogram) })
    chars += histogram.length + queueHistogram.length
    if (chars < CHARS_AT_ONCE) continue
    chars = 0
    await nextTurn()
  }
}

/** Reads the counts of a kind of run, by the place of the kind. A row of an earlier version has no sums of the later kinds. */
function endsAt(counts: readonly (number | null)[], place: number): Ends {
  const [succeeded, failed, cancelled] = counts.slice(place * ENDS.length)
  return { succeeded: succeeded ?? 0, failed: failed ?? 0, cancelled: cancelled ?? 0 }
}

const COMMA = 44
const ZERO = 48
const NINE = 57
const COLON = 58
const CLOSING_BRACE = 125

/** By class; all zero between two calls. */
const sums = new Float64Array(CLASSES_MAX)

/**
 * Sums counts by class in JSON objects that follow each other, or in their members without quotes, each with a comma. To parse
 * each object would take twenty times as long.
 */
export function storedCounts(text: string): Durations['counts'] {
  const classes: number[] = []
  let of = 0
  let number = 0
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char >= ZERO && char <= NINE) number = number * 10 + char - ZERO
    else if (char === COLON) {
      of = number
      number = 0
    } else if ((char === COMMA || char === CLOSING_BRACE) && number > 0) {
      if (sums[of] === 0) classes.push(of)
      sums[of] = (sums[of] as number) + number
      number = 0
    }
  }
  const counts = new Map<number, number>()
  for (const each of classes) {
    counts.set(each, sums[each] as number)
    sums[each] = 0
  }
  return counts
}

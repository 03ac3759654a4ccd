// The progress of a run in readable form: a part of the whole if the value says one, and its text. Pure.

import { BigNumber, parse, sourceOf } from '../../data/json/parse.ts'

export interface ProgressView {
  /** From 0 to 1; absent if the value does not say it. */
  part?: number
  text: string
}

const PERCENT_MAX = 100

/**
 * Reads the JSON text of a progress. A number up to 1 is a part of the whole, a number up to 100 is a percentage, and `{done,
 * total}` is a part too. Everything else is shown as it is.
 */
export function progressView(source: string): ProgressView {
  const value = parsed(source)
  if (typeof value === 'string') return { text: value }
  if (typeof value === 'number') return viewOfNumber(value, source)
  const { done, total, ...rest } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  const [count, of] = [numberOf(done), numberOf(total)]
  if (count === undefined || of === undefined || count < 0 || of <= 0) return { text: source }
  const more = Object.entries(rest).map(
    ([key, item]) => `, ${key}: ${typeof item === 'string' ? item : sourceOf(item)}`,
  )
  return { part: Math.min(1, count / of), text: `${sourceOf(done)} of ${sourceOf(total)}${more.join('')}` }
}

/** Returns the kind of the value, for use when payloads are hidden. */
export function progressShape(source: string): string {
  const value = parsed(source)
  if (typeof value === 'string') return `string(${value.length})`
  if (numberOf(value) !== undefined) return 'number'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : value === undefined ? 'object' : typeof value
}

/** Parses the text. A text that was cut is not JSON. */
function parsed(source: string): unknown {
  try {
    return parse(source)
  } catch {
    return undefined
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : value instanceof BigNumber ? value.valueOf() : undefined
}

function viewOfNumber(value: number, source: string): ProgressView {
  if (value < 0 || value > PERCENT_MAX) return { text: source }
  if (value > 1) return { part: value / PERCENT_MAX, text: `${source} %` }
  // Rounded down: 100 % only means the end.
  return { part: value, text: `${Math.floor(value * 1000 + 1e-9) / 10} %` }
}

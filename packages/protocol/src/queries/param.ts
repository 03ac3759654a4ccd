// The type of a query parameter, and parameters that several operations have.

import { SERIES_STEPS } from '../api/values.ts'
import { APP_NAME_CHARS_MAX } from '../wire/bounds.ts'

/** A query parameter. An invalid value is refused with 400, except an integer out of range: it is clamped. */
export type QueryParam = { description: string; required?: true } /** `ofRun`: ids of runs. */ & (
  | { kind: 'name'; maxLength: number; ofRun?: true }
  /** A text that matches the regular expression. */
  | { kind: 'pattern'; pattern: string }
  | { kind: 'text'; maxLength: number }
  | { kind: 'enum'; values: readonly string[]; default?: string }
  /** Values of the list, separated by commas or each as a separate parameter. */
  | { kind: 'enums'; values: readonly string[] }
  /** Names without commas, separated by commas or each as a separate parameter. */
  | { kind: 'names'; maxLength: number; maxItems: number; ofRun?: true }
  /** Attributes, each as `key:value`; may be given several times. */
  | { kind: 'attributes' }
  | { kind: 'integer'; minimum: number; maximum: number; default?: number }
  /** RFC 3339; parsed to epoch ms. */
  | { kind: 'timestamp' }
  /** `30s`, or milliseconds; parsed to ms. Below the minimum only the default is allowed. */
  | { kind: 'duration'; minimumMs?: number; maximumMs: number; default: number }
  /** True when the value is `1`. */
  | { kind: 'flag' }
)

export type QueryParams = Readonly<Record<string, QueryParam>>

/** The type of a parsed parameter. */
export type ParamValue<Param extends QueryParam> = Param extends { kind: 'enums'; values: readonly (infer Value)[] }
  ? readonly Value[]
  : Param extends { kind: 'names' | 'attributes' }
    ? readonly string[]
    : Param extends { values: readonly (infer Value)[] }
      ? Value
      : Param extends { kind: 'integer' | 'timestamp' | 'duration' }
        ? number
        : Param extends { kind: 'flag' }
          ? boolean
          : string

/** The parsed values of a query. Parameters with a default are always present. */
export type QueryValues<Params extends QueryParams> = {
  [Name in keyof Params]: Params[Name] extends { default: unknown } | { kind: 'flag' }
    ? ParamValue<Params[Name]>
    : ParamValue<Params[Name]> | undefined
}

export const CURSOR_PARAM = {
  kind: 'text',
  maxLength: 4096,
  description: 'The `X-Next-Cursor` of the previous page; valid only with the same sort, direction and filters',
} as const

/** The parameters of a list in pages. */
export const pageParams = ({ maximum = 200, description = 'Rows per page' } = {}) =>
  ({
    limit: { kind: 'integer', minimum: 1, maximum, default: 100, description },
    cursor: CURSOR_PARAM,
  }) as const

/** Longest time that an answer waits for the end of a run. */
const RESULT_WAIT_MS_MAX = 60_000

/** How long an answer waits for the end of a run. */
export const waitParam = (description: string) =>
  ({ kind: 'duration', maximumMs: RESULT_WAIT_MS_MAX, default: 0, description }) as const

/** How long a run token is valid: minimum, maximum and default. */
export const RUN_TOKEN_MS = { min: 1_000, max: 24 * 3_600_000, initial: 3_600_000 } as const

/** Requests a run token in addition to the answer; 0, the default, for none. */
export const tokenParam = (description: string) =>
  ({ kind: 'duration', minimumMs: RUN_TOKEN_MS.min, maximumMs: RUN_TOKEN_MS.max, default: 0, description }) as const

export const APP_PARAM = {
  kind: 'name',
  maxLength: APP_NAME_CHARS_MAX,
  description: 'Only items of this app',
} as const

/** Maximum length of an id in a path or a query parameter, in characters. */
export const ID_CHARS_MAX = 68

/** Which spans of a series are given. */
export const SPAN_PARAMS = {
  since: { kind: 'timestamp', description: 'The first span contains this time; by default 24 hours are given' },
  until: { kind: 'timestamp', description: 'Only spans that begin before this time; by default now' },
  step: {
    kind: 'enum',
    values: SERIES_STEPS,
    default: '1h',
    description:
      'The length of a span. At most 750 spans are given; spans of `5m` are kept for 8 days, and spans of `1h` for 400',
  },
} as const

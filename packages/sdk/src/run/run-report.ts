// A handler's report about its run: attributes and progress. It is sent with the next answer or checkpoint of the pass. Used by
// `ctx`, the checkpoints and the answer. A value that is not allowed is left out: a report about a run never fails the run.

import {
  ATTRIBUTE_KEY_CHARS_MAX,
  ATTRIBUTE_KEY_PATTERN,
  ATTRIBUTE_VALUE_CHARS_MAX,
  ATTRIBUTES_MAX,
  cutText,
  type InvokeContext,
  knows,
  PROGRESS_BYTES_MAX,
} from '@perdure/protocol'
import { encodePayload } from '../wire/json.ts'
import { byteLength, exceeds } from '../wire/text-size.ts'
import type { AttributeValues } from './run-context.ts'

const KEY = new RegExp(ATTRIBUTE_KEY_PATTERN)

/** The report of one pass, without the parts that have been sent. */
export class RunReport {
  /** Whether the engine stores reports. */
  readonly isKnown: boolean
  #attributes = new Map<string, string | number | boolean | null>()
  #progress: string | undefined
  /** The report that was taken last. */
  #taken: { attributes: Map<string, string | number | boolean | null>; progress: string | undefined } | undefined

  /** An engine that does not know such reports gets none. */
  constructor({ features }: Pick<InvokeContext, 'features'>) {
    this.isKnown = knows(features, 'attributes')
  }

  /** Sets the attributes that are allowed. Returns the problem of the first one that was left out. */
  setAttributes(values: AttributeValues): string | undefined {
    let problem: string | undefined
    for (const [key, value] of Object.entries(values ?? {})) {
      if (value === undefined) continue
      const wrong = attributeProblem(key, value) ?? this.#boundProblem(key, value)
      if (wrong !== undefined) problem ??= `ctx.attributes: ${wrong}`
      else if (this.isKnown) this.#attributes.set(key, value)
    }
    return problem
  }

  /** Replaces the unsent progress. Returns the reason if the value was left out. */
  setProgress(value: unknown): string | undefined {
    const text = progressText(value)
    if (text instanceof Error) return text.message
    if (text === undefined || text === 'null') return 'ctx.progress: the value must be JSON, and not null'
    if (exceeds(text, PROGRESS_BYTES_MAX))
      return `ctx.progress: the value has ${byteLength(text)} bytes of JSON; the maximum is ${PROGRESS_BYTES_MAX}`
    if (this.isKnown) this.#progress = text
    return undefined
  }

  /** Whether there is unsent progress. */
  get hasProgress(): boolean {
    return this.#progress !== undefined
  }

  /** Removes the values to send, and returns them as the fields of a JSON object, each after a comma. */
  take(): string {
    this.#taken = { attributes: this.#attributes, progress: this.#progress }
    const progress = this.takeProgress()
    if (this.#attributes.size === 0) return progress
    const attributes = JSON.stringify(Object.fromEntries(this.#attributes))
    this.#attributes = new Map()
    return `,"attributes":${attributes}${progress}`
  }

  /** Restores the values taken last, because they were not sent. Newer values win. */
  takeBack(): void {
    const { attributes = [], progress } = this.#taken ?? {}
    this.#attributes = new Map([...attributes, ...this.#attributes])
    this.#progress ??= progress
  }

  /** Does the same with only the progress: a pass that failed reports it too. */
  takeProgress(): string {
    if (this.#progress === undefined) return ''
    const progress = this.#progress
    this.#progress = undefined
    return `,"progress":${progress}`
  }

  /** Returns the problem if one more attribute would exceed the bound of a run or of one report. */
  #boundProblem(key: string, value: unknown): string | undefined {
    if (this.#attributes.has(key)) return undefined
    const set = value === null ? 0 : [...this.#attributes.values()].filter(one => one !== null).length
    if (set < ATTRIBUTES_MAX && this.#attributes.size < 2 * ATTRIBUTES_MAX) return undefined
    return `${JSON.stringify(key)} exceeds the limit of ${ATTRIBUTES_MAX} attributes for one run`
  }
}

function progressText(value: unknown): string | undefined | Error {
  try {
    return encodePayload(value, 'ctx.progress: the value')
  } catch (error) {
    return error as Error
  }
}

/** Returns the reason if these cannot be the attributes of a new run. */
export function attributesProblem(attributes: unknown): string | undefined {
  if (attributes === undefined) return undefined
  if (typeof attributes !== 'object' || attributes === null) return 'not an object'
  const entries = Object.entries(attributes)
  if (entries.length > ATTRIBUTES_MAX) return `a run has at most ${ATTRIBUTES_MAX}`
  for (const [key, value] of entries) {
    const problem = value === null ? `${JSON.stringify(key)} is null` : attributeProblem(key, value)
    if (problem !== undefined) return problem
  }
  return undefined
}

function attributeProblem(key: string, value: unknown): string | undefined {
  const shown = JSON.stringify(cutText(key, ATTRIBUTE_KEY_CHARS_MAX, '…'))
  if (!KEY.test(key))
    return `${shown} is not a valid key: it must have 1 to ${ATTRIBUTE_KEY_CHARS_MAX} letters, digits, _, . or -`
  if (value === null || typeof value === 'boolean') return
  if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value)))
    return `${shown} is beyond 2^53 - 1, where numbers lose digits: set it as a string`
  if (typeof value !== 'string') return `${shown} must be a string, a finite number, a boolean, or null to remove it`
  if (value.length > ATTRIBUTE_VALUE_CHARS_MAX && [...value].length > ATTRIBUTE_VALUE_CHARS_MAX)
    return `${shown} has ${[...value].length} characters; the maximum is ${ATTRIBUTE_VALUE_CHARS_MAX}`
  return undefined
}

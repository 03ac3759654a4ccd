// The report of a handler about its run: attributes and progress. It is sent with the next answer or checkpoint of the pass. Used by
// `ctx`, the checkpoints and the answer.

import {
  ATTRIBUTE_KEY_CHARS_MAX,
  ATTRIBUTE_VALUE_CHARS_MAX,
  ATTRIBUTES_FEATURE,
  ATTRIBUTES_MAX,
  type InvokeContext,
  PROGRESS_BYTES_MAX,
} from '@perdure/protocol'
import { NonRetriableError } from '../wire/errors.ts'
import { encodePayload } from '../wire/json.ts'
import { byteLength, exceeds } from '../wire/text-size.ts'
import type { AttributeValues } from './run-context.ts'

const KEY = new RegExp(`^[A-Za-z0-9_.-]{1,${ATTRIBUTE_KEY_CHARS_MAX}}$`)

/** The report of one pass. What has been sent is not in it any more. */
export class RunReport {
  readonly #isKnown: boolean
  #attributes = new Map<string, string | number | boolean | null>()
  #progress: string | undefined
  /** The report that was taken last. */
  #taken: { attributes: Map<string, string | number | boolean | null>; progress: string | undefined } | undefined

  /** An engine that does not know such reports gets none. */
  constructor({ features }: Pick<InvokeContext, 'features'>) {
    this.#isKnown = features?.includes(ATTRIBUTES_FEATURE) ?? false
  }

  /** Whether the engine stores what is reported. */
  get isKnown(): boolean {
    return this.#isKnown
  }

  /** Throws a {@link NonRetriableError} that names the attribute that is not allowed. */
  setAttributes(values: AttributeValues): void {
    const given = Object.entries(values ?? {}).filter(([, value]) => value !== undefined)
    for (const [key, value] of given) checkAttribute(key, value)
    if (!this.#isKnown) return
    for (const [key, value] of given) this.#attributes.set(key, value as string | number | boolean | null)
    if (this.#attributes.size > 2 * ATTRIBUTES_MAX || this.#setCount() > ATTRIBUTES_MAX)
      throw new NonRetriableError(`ctx.attributes: a run has at most ${ATTRIBUTES_MAX} attributes`)
  }

  /** Replaces the progress that was not sent. Throws a {@link NonRetriableError} for a value that cannot be one. */
  setProgress(value: unknown): void {
    const text = encodePayload(value, 'ctx.progress: the value')
    if (text === undefined || text === 'null')
      throw new NonRetriableError('ctx.progress: the value must be JSON, and not null')
    if (exceeds(text, PROGRESS_BYTES_MAX))
      throw new NonRetriableError(
        `ctx.progress: the value has ${byteLength(text)} bytes of JSON, and may have ${PROGRESS_BYTES_MAX}`,
      )
    if (this.#isKnown) this.#progress = text
  }

  /** Whether there is progress that was not sent. */
  get hasProgress(): boolean {
    return this.#progress !== undefined
  }

  /** Removes what is to be sent, and returns it as the fields of an object in JSON, each after a comma. */
  take(): string {
    this.#taken = { attributes: this.#attributes, progress: this.#progress }
    const progress = this.takeProgress()
    if (this.#attributes.size === 0) return progress
    const attributes = JSON.stringify(Object.fromEntries(this.#attributes))
    this.#attributes = new Map()
    return `,"attributes":${attributes}${progress}`
  }

  /** Adds what was taken last: it was not sent. Newer values count. */
  takeBack(): void {
    const { attributes = [], progress } = this.#taken ?? {}
    this.#attributes = new Map([...attributes, ...this.#attributes])
    this.#progress ??= progress
  }

  /** Does the same with the progress alone: a pass that failed reports it too. */
  takeProgress(): string {
    if (this.#progress === undefined) return ''
    const progress = this.#progress
    this.#progress = undefined
    return `,"progress":${progress}`
  }

  #setCount(): number {
    return [...this.#attributes.values()].filter(value => value !== null).length
  }
}

function checkAttribute(key: string, value: unknown): void {
  const bad = (problem: string) => new NonRetriableError(`ctx.attributes: ${JSON.stringify(key)} ${problem}`)
  if (!KEY.test(key)) throw bad(`is no key: it must have 1 to ${ATTRIBUTE_KEY_CHARS_MAX} letters, digits, _, . or -`)
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return
  if (typeof value !== 'string') throw bad('must be a string, a finite number, a boolean, or null to remove it')
  if (value.length > ATTRIBUTE_VALUE_CHARS_MAX && [...value].length > ATTRIBUTE_VALUE_CHARS_MAX)
    throw bad(`must not have more than ${ATTRIBUTE_VALUE_CHARS_MAX} characters`)
}

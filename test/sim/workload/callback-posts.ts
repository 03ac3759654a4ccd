// Posts to the callbacks of runs, by clients that got the URLs: before the step waits, around the moment at which it begins to
// wait, while it waits and afterwards, several at once, and with tokens that are not valid.

import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import type { Rng } from '../core/random.ts'
import type { SimClock } from '../core/sim-clock.ts'
import type { Client } from './client.ts'
import { hashId } from './handler.ts'

/** A callback whose URL a handler gave away. */
export interface SharedCallback {
  namespace: string
  runId: string
  /** The hashed step id. */
  stepId: string
  url: string
}

export interface CallbackPostsDeps {
  clock: SimClock
  rng: Rng
  client(): Client
  /** Whether only the end of the simulation posts. */
  isOff: boolean
}

/** Longest delays of a post: around the commit of a pass, within most runs, and after the end of many. */
const DELAYS_MS = [40, 4000, 60_000]

export class CallbackPosts {
  readonly #deps: CallbackPostsDeps
  readonly #shared = new Map<string, SharedCallback>()
  readonly #reported = new Set<string>()
  #stopped = false
  #count = 0

  constructor(deps: CallbackPostsDeps) {
    this.#deps = deps
  }

  /** A running handler knows the URL. */
  shared(callback: SharedCallback): void {
    if (this.#shared.has(callback.url)) return
    this.#shared.set(callback.url, callback)
    this.#plan(callback, 'shared')
  }

  /** A pass is about to report the wait. */
  reported(callback: SharedCallback): void {
    if (this.#reported.has(callback.url)) return
    this.#reported.add(callback.url)
    this.#plan(callback, 'reported')
  }

  /** Drops the posts that are planned. */
  stop(): void {
    this.#stopped = true
  }

  /** Posts to each callback for which the run waits. */
  postWaiting(runId: string, steps: readonly Step[]): void {
    const waiting = new Set(
      steps.filter(({ op, status }) => op === 'WaitForCallback' && status === 'waiting').map(({ id }) => id),
    )
    for (const callback of this.#shared.values())
      if (callback.runId === runId && waiting.has(callback.stepId)) this.#post(callback)
  }

  /** Posts once to every callback. */
  postAll(): void {
    for (const callback of this.#shared.values()) this.#post(callback)
  }

  #plan(callback: SharedCallback, when: string): void {
    const { clock, isOff } = this.#deps
    if (isOff) return
    const rng = this.#deps.rng.fork(`${callback.runId} ${callback.stepId} ${when}`)
    for (const delayMsMax of DELAYS_MS) {
      if (!rng.chance(0.3)) continue
      const delayMs = rng.int(0, delayMsMax)
      clock.after(delayMs, () => {
        if (this.#stopped) return
        for (let posts = rng.pick([1, 1, 2, 3]); posts > 0; posts--) {
          this.#post(callback, rng.chance(0.15) ? wrongUrl(callback, rng) : undefined)
        }
      })
    }
  }

  #post(callback: SharedCallback, wrongUrl?: string): void {
    this.#deps.client().callback(`callback-${this.#count++}`, callback, wrongUrl)
  }
}

/** A URL with an invalid token. */
function wrongUrl({ url, stepId, runId }: SharedCallback, rng: Rng): string {
  const signatureStart = url.lastIndexOf('.') + 1
  const [head, signature] = [url.slice(0, signatureStart), url.slice(signatureStart)]
  const ownRun = url.slice(url.lastIndexOf('/') + 1, url.indexOf('.', url.lastIndexOf('/')))
  const otherRun = Buffer.from(Buffer.from(ownRun, 'base64url').toString().replace(runId, `${runId}0`)).toString(
    'base64url',
  )
  return rng.pick([
    `${head}${signature.slice(1)}${signature[0] === '0' ? '1' : '0'}`,
    `${head}${'0'.repeat(signature.length)}`,
    url.slice(0, -1),
    `${head.replace(stepId, hashId('another step'))}${signature}`,
    `${head.replace(ownRun, otherRun)}${signature}`,
    url.toUpperCase().replace('/CALLBACKS/', '/callbacks/'),
  ])
}

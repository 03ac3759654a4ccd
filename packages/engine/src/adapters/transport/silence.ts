// Notices a machine that is gone. A network silently drops everything sent to such a machine, and the kernel repeats it for a
// quarter of an hour. An origin that gives no sign of life after a call was sent is therefore probed by a connection, which the
// kernel of a living machine accepts even if its process is blocked. A call that the origin has confirmed in this way is left to
// the kernel's keep-alive, so a long step costs one probe (docs/decisions/0037-silent-machines.md). Used by http.ts and
// exchange.ts.

import { connect } from 'node:net'
import { TransientMap } from '../../base/transient-map.ts'
import { errorCode } from './failure.ts'

const PROBE_AFTER_MS = 1000
/** The kernel repeats the first packet of a connection after 1 s. */
const PROBE_MS_MAX = 1300
/** Longest time of a name lookup; its outcome decides nothing. */
const LOOKUP_MS_MAX = 10_000
const PROBE_AGAIN_MS_MAX = 4000
/** Calls that no other runner takes end after a silence of this length. */
const SILENCE_MS_MAX = 15_000
/** A machine that is silent for longer is no longer probed: the next call has to find out. */
const PROBED_MS_MAX = 120_000
const UNREACHABLE_CODES = ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ETIMEDOUT']
const SILENT = 'the machine of the runner does not answer'

/** A call that was written to an origin. */
export interface SentCall {
  /** Set when it was sent: its number, and the time by the monotonic clock. */
  sent?: { no: number; at: number }
  /** Ends the call if another runner takes it. */
  passOver(message: string): void
  fail(message: string, isLost: boolean): void
}

interface Origin {
  readonly url: string
  /** The calls in the order in which they were sent. */
  readonly calls: TransientMap<number, Required<SentCall>>
  heardAt: number
  silentSince?: number | undefined
  probes: number
  timer?: NodeJS.Timeout | undefined
  stopProbe?: (() => void) | undefined
}

/** Reports whether the origin gives a sign of life. Returns a function that stops the probe. */
type Probe = (origin: string, done: (isAlive: boolean) => void) => () => void

export class Silence {
  readonly #origins = new Map<string, Origin>()
  readonly #onSilent: (origin: string) => void
  readonly #probe: Probe
  #sentCount = 0

  /** `onSilent`: the origin no longer answers. */
  constructor(onSilent: (origin: string) => void, probe: Probe = probeByConnection) {
    this.#onSilent = onSilent
    this.#probe = probe
  }

  /** Whether calls of the origin would go to a machine that is gone. */
  isSilent(url: string): boolean {
    return this.#origins.get(url)?.silentSince !== undefined
  }

  sent(url: string, call: SentCall): void {
    const origin = this.#origins.get(url) ?? this.#add(url)
    call.sent = { no: ++this.#sentCount, at: performance.now() }
    origin.calls.set(call.sent.no, call as Required<SentCall>)
    if (!origin.timer && !origin.stopProbe) this.#checkIn(PROBE_AFTER_MS, origin)
  }

  heard(url: string): void {
    const origin = this.#origins.get(url)
    if (!origin) return
    origin.heardAt = performance.now()
    origin.silentSince = undefined
  }

  ended(url: string, call: SentCall): void {
    const origin = this.#origins.get(url)
    if (!origin || !call.sent) return
    origin.calls.delete(call.sent.no)
    this.#forgetIfIdle(origin)
  }

  /** Called when no packet of a new connection was answered. */
  unanswered(url: string): void {
    const origin = this.#origins.get(url) ?? this.#add(url)
    if (performance.now() - origin.heardAt > PROBE_AFTER_MS) this.#foundSilent(origin)
  }

  close(): void {
    for (const origin of [...this.#origins.values()]) this.#remove(origin)
  }

  #add(url: string): Origin {
    const origin: Origin = { url, calls: new TransientMap(), heardAt: Number.NEGATIVE_INFINITY, probes: 0 }
    this.#origins.set(url, origin)
    return origin
  }

  #remove(origin: Origin): void {
    clearTimeout(origin.timer)
    origin.stopProbe?.()
    this.#origins.delete(origin.url)
  }

  /** Calls that the origin has confirmed may continue for long. */
  #forgetIfIdle({ url, calls, timer, stopProbe, silentSince }: Origin): void {
    if (calls.size === 0 && !timer && !stopProbe && silentSince === undefined) this.#origins.delete(url)
  }

  #checkIn(ms: number, origin: Origin): void {
    origin.timer = setTimeout(() => this.#check(origin), ms)
    origin.timer.unref()
  }

  #check(origin: Origin): void {
    origin.timer = undefined
    if (origin.silentSince === undefined) {
      const first = firstUnconfirmed(origin)
      if (first === undefined) {
        this.#forgetIfIdle(origin)
        return
      }
      const leftMs = first + PROBE_AFTER_MS - performance.now()
      if (leftMs > 0) {
        this.#checkIn(leftMs, origin)
        return
      }
    }
    origin.stopProbe = this.#probe(origin.url, isAlive => {
      origin.stopProbe = undefined
      if (isAlive) this.#foundAlive(origin)
      else this.#foundSilent(origin)
    })
  }

  #foundAlive(origin: Origin): void {
    this.heard(origin.url)
    origin.probes = 0
    this.#checkIn(PROBE_AFTER_MS, origin)
  }

  #foundSilent(origin: Origin): void {
    const now = performance.now()
    if (origin.silentSince === undefined) {
      origin.silentSince = now
      this.#onSilent(origin.url)
    }
    const silentMs = now - origin.silentSince
    for (const call of [...origin.calls.values()]) {
      if (silentMs >= SILENCE_MS_MAX) call.fail(`${SILENT} for ${Math.round(silentMs / 1000)} s`, true)
      else if (call.sent.at > origin.heardAt) call.passOver(SILENT)
    }
    if (silentMs > PROBED_MS_MAX) this.#remove(origin)
    else if (!origin.timer && !origin.stopProbe)
      this.#checkIn(Math.min(PROBE_AGAIN_MS_MAX, 1000 * 2 ** origin.probes++), origin)
  }
}

/** When the first call was sent since the last sign of life. */
function firstUnconfirmed({ calls, heardAt }: Origin): number | undefined {
  for (const { sent } of calls.values()) if (sent.at > heardAt) return sent.at
  return undefined
}

/** A refused connection is also a sign of life: the process is gone, and its machine says so. */
function probeByConnection(url: string, done: (isAlive: boolean) => void): () => void {
  const { protocol, hostname, port } = new URL(url)
  const defaultPort = protocol === 'https:' ? 443 : 80
  const socket = connect(Number(port) || defaultPort, hostname.replace(/^\[|\]$/g, ''))
  let timer = setTimeout(() => end(true), LOOKUP_MS_MAX)
  let isOver = false
  const end = (isAlive: boolean) => {
    clearTimeout(timer)
    socket.destroy()
    if (isOver) return
    isOver = true
    done(isAlive)
  }
  const begin = () => {
    clearTimeout(timer)
    // If this process stood still, the answer may already have arrived: it is read first.
    timer = setTimeout(() => setImmediate(() => end(false)), PROBE_MS_MAX)
  }
  socket.once('connectionAttempt', begin)
  socket.once('connect', () => end(true))
  socket.on('error', error => end(!UNREACHABLE_CODES.includes(errorCode(error))))
  socket.unref()
  return () => {
    isOver = true
    clearTimeout(timer)
    socket.destroy()
  }
}

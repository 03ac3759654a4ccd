// The tab's end of the live connection: announces the topics it follows, and receives frames. After a gap the page is read again
// once: immediately, or as soon as it is visible and not paused. Used by use-live.ts, the pill and the palette.

import { parse } from '../data/json/parse.ts'
import { ENGINE_URL } from '../router/base.ts'
import { currentSession, onSession, sessionEnded } from '../session/session.ts'
import { keepToken, tokenOf } from '../session/tokens.ts'
import type { Batch, LiveFrame } from './coalescer.ts'
import { connect } from './connect.ts'
import {
  type Interest,
  type ListTopic,
  NAMESPACE_TOPICS,
  runOf,
  type ToHub,
  type Topic,
  type ToTab,
} from './messages.ts'
import { Sampling } from './sampling.ts'
import { currentLive, type Follower, followers, setLive } from './state.ts'

const ANSWER_MS_MAX = 400
const REREAD_MS_MIN = 2000
const REREAD_MS_MAX = 30_000

const askers = new Map<string, (token: string | undefined) => void>()
let post: ((message: ToHub) => void) | undefined
let posted: { namespace: string; token: string | undefined } | undefined
let isAnnouncing = false

function hub(): (message: ToHub) => void {
  if (post) return post
  post = connect(ENGINE_URL, receive)
  window.addEventListener('pagehide', () => post?.({ type: 'bye' }))
  window.addEventListener('pageshow', ({ persisted }) => {
    announce()
    // The page comes from the browser's cache: it has missed all frames since then.
    if (persisted) noteGap(followed())
  })
  document.addEventListener('visibilitychange', () => {
    announce()
    if (!document.hidden) rereadIfDue()
  })
  onSession(() => {
    postToken()
    announce()
  })
  // The session may be known before the first component follows a topic: a reloaded tab has its token, and a new hub has none.
  postToken()
  return post
}

function postToken(): void {
  const { namespace, status } = currentSession()
  if (status === 'starting' || status === 'unreachable') return
  const token = tokenOf(namespace)
  const before = posted?.namespace === namespace ? posted.token : undefined
  posted = { namespace, token }
  hub()({ type: 'token', namespace, token, before })
}

/** Follows a topic. Returns the function that stops it. */
export function followTopic({ topic, ...on }: Pick<Follower, 'topic' | 'onBatch' | 'onGap'>): () => void {
  const follower: Follower = { topic, ...on, after: 0 }
  followers.add(follower)
  announce()
  return () => {
    followers.delete(follower)
    announce()
  }
}

/**
 * Announces the topics that this tab follows, once for all changes of a moment: a page that replaces another causes no
 * intermediate change.
 */
export function announce(): void {
  if (isAnnouncing) return
  isAnnouncing = true
  setTimeout(() => {
    isAnnouncing = false
    const { namespace, status } = currentSession()
    const isOn = status === 'ready' || status === 'unreachable'
    const { hidden: isHidden } = document
    hub()({ type: 'topics', namespace, topics: isOn ? interests() : [], isHidden, isSignedIn: isOn })
  })
}

/** The lowest position of the followers of each topic in the last announcement. */
const announced = new Map<Topic, number>()

function interests(): Interest[] {
  const positions = new Map<Topic, number>()
  for (const { topic, after } of followers) positions.set(topic, Math.min(after, positions.get(topic) ?? after))
  for (const topic of announced.keys()) if (!positions.has(topic)) announced.delete(topic)
  return [...positions].map(([topic, after]) => {
    const known = announced.get(topic)
    const restarts = !currentLive().isPaused && after < (known ?? 0)
    if (known === undefined || restarts) announced.set(topic, after)
    return { topic, after, restarts }
  })
}

function receive(message: ToTab): void {
  if (message.type === 'hello') {
    postToken()
    announce()
  } else if (message.type === 'token') askers.get(message.namespace)?.(message.token)
  else if (message.namespace !== currentSession().namespace) return
  else if (message.type === 'state') receiveState(message)
  else if (message.type === 'counts') setLive({ counts: message.counts })
  else if (message.type === 'gap') noteGap(message.topics, message.lostAt)
  else if (message.type === 'batch') deliver(message.topic, message.batch)
  else receiveTimeline(message)
}

function receiveState({ namespace, state, retryAt, lostAt, token }: ToTab & { type: 'state' }): void {
  if (state === 'ended') {
    // The hub may not know yet that this tab has signed in again.
    if (token !== tokenOf(namespace)) return
    sessionEnded()
  }
  const staleSince = lostAt ?? (missed || rereads > 0 ? currentLive().staleSince : undefined)
  setLive({ state, retryAt, staleSince })
}

function receiveTimeline({ topic, texts }: ToTab & { type: 'timeline' }): void {
  const last = texts.at(-1)?.seq ?? 0
  if (currentLive().isPaused) {
    // They are sent again when rendering continues.
    announced.set(topic, last)
    setLive({ held: currentLive().held + texts.length })
    return
  }
  const frames = texts.map(({ seq, isNow, text }) => ({ seq, isNow, frame: frameOf(text) }))
  announced.set(topic, last)
  for (const follower of followers) {
    if (follower.topic !== topic) continue
    const next = frames.filter(({ seq, isNow }) => isNow || seq > follower.after).map(({ frame }) => frame)
    follower.after = Math.max(follower.after, last)
    if (next.length > 0) follower.onBatch({ frames: next, count: next.length, isSampled: false })
  }
}

/** Fields of log lines, progress and chunks of output streams keep every digit; other frames have no values of users. */
function frameOf(text: string): LiveFrame {
  const hasValues = /"kind":"(log|progress|stream)"/.test(text)
  return (hasValues ? parse(text) : JSON.parse(text)) as LiveFrame
}

/** Returns the topics of newest states that the tab follows. */
function followed(): ListTopic[] {
  return [...followers].flatMap(({ topic }) => (runOf(topic) === undefined ? [topic as ListTopic] : []))
}

const sampling = new Sampling()

function deliver(topic: ListTopic, batch: Batch): void {
  if (currentLive().isPaused) {
    setLive({ held: currentLive().held + batch.count })
    return
  }
  // The queries render in a separate task, between these two timers.
  let renderFrom = 0
  setTimeout(() => {
    renderFrom = performance.now()
  })
  const from = performance.now()
  const isSampled = batch.isSampled || sampling.isOn(from)
  if (isSampled) sampling.missed()
  for (const follower of followers) if (follower.topic === topic) follower.onBatch({ ...batch, isSampled })
  const mergeMs = performance.now() - from
  setTimeout(() => {
    const now = performance.now()
    sampling.noteFlush({ topic, isTooMuch: batch.isSampled, tookMs: mergeMs + now - renderFrom, now })
    if (currentLive().isSampling || !sampling.isOn(now)) return
    setLive({ isSampling: true })
    endSampling()
  })
}

/** Ends sampling when it is time. Rows that have only received statuses are read again. */
function endSampling(): void {
  const leftMs = sampling.leftMs(performance.now())
  if (leftMs > 0) {
    setTimeout(endSampling, leftMs)
    return
  }
  setLive({ isSampling: false })
  if (sampling.end()) noteGap(NAMESPACE_TOPICS)
}

/** A gap whose lists have not been read again yet. */
let missed: { topics: Set<ListTopic>; openedAt: number } | undefined
let retryMs = REREAD_MS_MIN
let rereadNotBefore = 0
/** Number of reads under way. */
let rereads = 0

function noteMissed(topics: Iterable<ListTopic>, openedAt: number): void {
  missed = {
    topics: new Set([...(missed?.topics ?? []), ...topics]),
    openedAt: Math.max(missed?.openedAt ?? 0, openedAt),
  }
}

function noteGap(topics: readonly ListTopic[], lostAt?: number): void {
  noteMissed(topics, performance.now())
  if (lostAt !== undefined) setLive({ staleSince: currentLive().staleSince ?? lostAt })
  rereadIfDue()
}

function rereadIfDue(): void {
  if (!missed || currentLive().isPaused || document.hidden || rereads > 0) return
  const waitMs = rereadNotBefore - performance.now()
  if (waitMs > 0) {
    setTimeout(rereadIfDue, waitMs)
    return
  }
  const { topics, openedAt } = missed
  missed = undefined
  rereadNotBefore = performance.now() + REREAD_MS_MIN
  rereads++
  const reads = [...followers].filter(({ topic }) => topics.has(topic as ListTopic)).map(each => each.onGap(openedAt))
  void Promise.all(reads)
    .then(
      () => true,
      () => false,
    )
    .then(isRead => {
      rereads--
      if (isRead) retryMs = REREAD_MS_MIN
      else {
        noteMissed(topics, openedAt)
        rereadNotBefore = performance.now() + retryMs
        retryMs = Math.min(REREAD_MS_MAX, retryMs * 2)
      }
      if (missed) rereadIfDue()
      else if (currentLive().state !== 'reconnecting') setLive({ staleSince: undefined })
    })
}

/** Makes the hub read again the rail counts that a change in this tab affects. */
export const recount = (): void => hub()({ type: 'recount', namespace: currentSession().namespace })

/** Pauses or resumes rendering; the stream continues. After a pause lists are read again, once, and timelines continue. */
export function setPaused(isPaused: boolean): void {
  setLive({ isPaused, held: 0 })
  if (isPaused) return
  noteGap(followed())
  announce()
}

/** Adopts the token that another tab of this browser has for the namespace. */
export async function adoptToken(namespace: string): Promise<void> {
  if (tokenOf(namespace) !== undefined) return
  const token = await new Promise<string | undefined>(resolve => {
    askers.set(namespace, resolve)
    setTimeout(resolve, ANSWER_MS_MAX)
    hub()({ type: 'ask', namespace })
  })
  askers.delete(namespace)
  if (token !== undefined) keepToken(namespace, token)
}

// The tab's end of the live connection: what it wants to follow, what came in, and the state of the streams.

import { ENGINE_URL } from '../router/base.ts'
import { currentSession, onSession } from '../session/session.ts'
import { keepToken, tokenOf } from '../session/tokens.ts'
import type { Batch } from './coalescer.ts'
import { Hub, type Tab } from './hub.ts'
import type { LiveState, Topic, ToTab, ToWorker } from './messages.ts'
import workerUrl from './shared-worker.ts?sharedworker&url'

export interface Follower {
  topic: Topic
  onBatch(batch: Batch): void
  /** Frames may be missing: read again. */
  onGap(): void
}

/** The state of the live connection, for the pill. */
export interface Live {
  state: LiveState
  retryAt?: number | undefined
  isPaused: boolean
  /** Frames that came in while paused. */
  held: number
  /** Since when the streams are interrupted. */
  staleSince?: number | undefined
}

const ANSWER_MS_MAX = 400

const followers = new Set<Follower>()
const listeners = new Set<() => void>()
const askers = new Map<string, (token: string | undefined) => void>()
let live: Live = { state: 'idle', isPaused: false, held: 0 }
let post: ((message: ToWorker) => void) | undefined

/** The policy that the Content-Security-Policy allows makes one address only: that of our worker. */
interface Policies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

function trustedWorkerUrl(): string {
  const address = new URL(workerUrl, import.meta.url).href
  const { trustedTypes } = window as unknown as { trustedTypes?: Policies }
  if (!trustedTypes) return address
  const policy = trustedTypes.createPolicy('perdure', {
    createScriptURL: url => {
      if (url !== address) throw new TypeError('the only script address is that of the worker')
      return url
    },
  })
  return policy.createScriptURL(address)
}

function connection(): (message: ToWorker) => void {
  if (post) return post
  if (typeof SharedWorker === 'undefined') {
    const hub = new Hub(ENGINE_URL)
    const tab: Tab = { send: receive }
    post = message => hub.receive(tab, message)
  } else {
    const worker = new SharedWorker(trustedWorkerUrl(), { type: 'module', name: ENGINE_URL })
    worker.port.onmessage = ({ data }: MessageEvent<ToTab>) => receive(data)
    post = message => worker.port.postMessage(message)
  }
  window.addEventListener('pagehide', () => post?.({ type: 'bye' }))
  window.addEventListener('pageshow', () => announce())
  document.addEventListener('visibilitychange', announce)
  onSession(() => {
    const { namespace, status } = currentSession()
    if (status === 'starting' || status === 'unreachable') return
    post?.({ type: 'token', namespace, token: tokenOf(namespace) })
    announce()
  })
  return post
}

/** Says what this tab follows. */
function announce(): void {
  const { namespace, status } = currentSession()
  const topics =
    status === 'ready' || status === 'unreachable' ? [...new Set([...followers].map(each => each.topic))] : []
  connection()({ type: 'topics', namespace, topics, isHidden: document.hidden })
}

function setLive(change: Partial<Live>): void {
  live = { ...live, ...change }
  for (const listener of listeners) listener()
}

function receive(message: ToTab): void {
  if (message.type === 'token') {
    askers.get(message.namespace)?.(message.token)
    return
  }
  if (message.namespace !== currentSession().namespace) return
  if (message.type === 'state') {
    const isLost = message.state === 'reconnecting' || message.state === 'ended'
    setLive({
      state: message.state,
      retryAt: message.retryAt,
      staleSince: isLost ? (live.staleSince ?? Date.now()) : undefined,
    })
    return
  }
  const concerned = [...followers].filter(({ topic }) => topic === message.topic)
  if (message.type === 'gap') for (const follower of concerned) follower.onGap()
  else if (live.isPaused && !message.topic.startsWith('run:')) setLive({ held: live.held + message.batch.count })
  else for (const follower of concerned) follower.onBatch(message.batch)
}

/** Follows a topic. Returns the way to stop. */
export function followTopic(follower: Follower): () => void {
  followers.add(follower)
  announce()
  return () => {
    followers.delete(follower)
    announce()
  }
}

/** Stops and goes on with rendering; the stream goes on. After a pause lists are read again, once. */
export function setPaused(isPaused: boolean): void {
  setLive({ isPaused, held: 0 })
  if (!isPaused) for (const follower of followers) follower.onGap()
}

export const currentLive = (): Live => live

export function onLive(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Takes over the token that another tab of this browser has for the namespace. */
export async function adoptToken(namespace: string): Promise<void> {
  if (tokenOf(namespace) !== undefined) return
  const token = await new Promise<string | undefined>(resolve => {
    askers.set(namespace, resolve)
    setTimeout(resolve, ANSWER_MS_MAX)
    connection()({ type: 'ask', namespace })
  })
  askers.delete(namespace)
  if (token !== undefined) keepToken(namespace, token)
}

// The session of this tab: who the caller is, whether actions are unlocked, and the client that calls the engine. A store
// that components read with `useSession`.

import { ApiError, type Calls, type OperationMethods } from '@perdure/client'
import { useSyncExternalStore } from 'react'
import { onClockJump, syncClock } from '../data/time/clock.ts'
import { clientWith } from './client.ts'
import { forgetToken, keepToken, tokenOf } from './tokens.ts'

export type Whoami = Calls['whoami']['reply']

export interface Session {
  /** `signed-out`: the engine requires a key. `ready`: `whoami` is known. `unreachable`: no engine answers. */
  status: 'starting' | 'signed-out' | 'ready' | 'unreachable'
  namespace: string
  /** Stays set if the session ends during use, so that the page stays on the screen, frozen. */
  whoami?: Whoami | undefined
  /** Why the sign-in page is shown, or why the engine does not answer. */
  notice?: string | undefined
  /** Until when actions are unlocked, by the engine's clock. */
  unlockedUntil?: number | undefined
}

/** How long a key that unlocks actions is valid. */
const UNLOCK_TTL = '15m'
const RETRY_MS_MIN = 1000
const RETRY_MS_MAX = 15_000

let session: Session = { status: 'starting', namespace: 'default' }
let reader: OperationMethods = clientWith(undefined)
let writer: OperationMethods | undefined
let retryTimer: ReturnType<typeof setTimeout> | undefined
let retryMs = RETRY_MS_MIN
const listeners = new Set<() => void>()

function set(next: Session): void {
  session = next
  for (const listener of listeners) listener()
}

/** Returns the current session. */
export const currentSession = (): Session => session

/** Calls `listener` after every change of the session. */
export function onSession(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useSession(): Session {
  return useSyncExternalStore(onSession, currentSession)
}

/** Returns the client for reads. While actions are unlocked it also reads what needs a secret key: the list of keys. */
export const readClient = (): OperationMethods => writer ?? reader
/** Returns a client for long answers without payloads: the browser's own parser takes a tenth of the time. */
export const plainClient = (): OperationMethods => clientWith(tokenOf(session.namespace), JSON)
/** Returns the client for writes: unlocked, or the same as for reads on an open engine. */
export const writeClient = (): OperationMethods => writer ?? reader

/** Whether writes are possible now: the engine is open, or a secret key has unlocked them. */
export function canWrite({ whoami, unlockedUntil, status }: Session): boolean {
  return (
    status === 'ready' && whoami?.suspended !== undefined && (whoami.kind === 'secret' || unlockedUntil !== undefined)
  )
}

/** Why a write is locked. A control with this reason opens the dialog that asks for a key. */
export const NEEDS_KEY = 'needs a secret key'
/** Returns why a write is not possible; undefined if it is. */
export function whyNoWrite(current: Session): string | undefined {
  if (current.status === 'unreachable') return 'the engine is not responding'
  return canWrite(current) ? undefined : NEEDS_KEY
}

/** Returns why no run can be started now: a suspended namespace starts none. */
export function whyNoNewRun(current: Session): string | undefined {
  return whyNoWrite(current) ?? (current.whoami?.suspended ? 'the namespace is suspended' : undefined)
}

/** Opens the namespace with the token of this tab, or without one. */
export async function openNamespace(namespace: string): Promise<void> {
  if (session.namespace !== namespace) lock()
  reader = clientWith(tokenOf(namespace))
  set({ status: 'starting', namespace, whoami: session.namespace === namespace ? session.whoami : undefined })
  await identify(namespace)
}

async function identify(namespace: string): Promise<void> {
  clearTimeout(retryTimer)
  retryTimer = undefined
  const sentAt = performance.now()
  try {
    const whoami = await reader.whoami()
    if (session.namespace !== namespace) return
    retryMs = RETRY_MS_MIN
    syncClock(whoami.now, sentAt)
    if (whoami.namespace === namespace) set({ ...session, status: 'ready', whoami, notice: undefined })
    else signedOut(`The namespace ${namespace} needs its own key.`)
  } catch (error) {
    if (session.namespace !== namespace) return
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
      if (tokenOf(namespace) !== undefined) sessionEnded()
      else signedOut(error.status === 403 ? error.message : undefined)
    } else unreachable(error as Error)
  }
}

function signedOut(notice: string | undefined): void {
  lock()
  set({ ...session, status: 'signed-out', notice })
}

/** Called when the engine refused the token during use: it expired, or its key was revoked. */
export function sessionEnded(): void {
  if (session.status === 'signed-out') return
  forgetToken(session.namespace)
  signedOut('Your session has ended. Sign in to continue.')
  // An engine without keys may have replaced the previous one.
  const open = () => openNamespace(session.namespace)
  void clientWith(undefined)
    .whoami()
    .then(open, () => {})
}

/**
 * Called when a call was refused although this tab counts as signed in. The engine answers whether its session is still valid:
 * the call may need a key even on an open engine, or only the token of unlocked actions was revoked.
 */
export function callRefused(): void {
  if (session.status !== 'ready') return
  lock()
  void identify(session.namespace)
}

/**
 * Called when no engine answers. Reads the identity again, with growing pauses, until one does. Calls that fail together are one
 * failure.
 */
export function unreachable(error: Error): void {
  if (session.status === 'signed-out') return
  if (session.status !== 'unreachable') set({ ...session, status: 'unreachable', notice: error.message })
  if (retryTimer !== undefined) return
  retryTimer = setTimeout(() => void identify(session.namespace), retryMs)
  retryMs = Math.min(retryMs * 2, RETRY_MS_MAX)
}

onClockJump(() => {
  if (session.status === 'ready') void identify(session.namespace)
})

/** Tries immediately to reach an engine that did not answer. */
export function retryNow(): void {
  void identify(session.namespace)
}

/** Exchanges a key or a code for a session. Returns the namespace that it opens. Rejects if the engine refuses. */
export async function signIn(secret: { key: string } | { code: string }): Promise<string> {
  const opened = await clientWith(undefined).openSession({ body: secret })
  keepToken(opened.namespace, opened.token)
  if (opened.namespace === session.namespace) await openNamespace(opened.namespace)
  return opened.namespace
}

/** Ends the session on the engine and in this tab. */
export async function signOut(): Promise<void> {
  const { namespace } = session
  const client = reader
  forgetToken(namespace)
  reader = clientWith(undefined)
  lock()
  set({ status: 'starting', namespace })
  await client.endSession().catch(() => {})
  await openNamespace(namespace)
}

/** Unlocks actions with a secret key for a quarter of an hour, in this tab's memory. */
export async function unlock(key: string): Promise<void> {
  const opened = await clientWith(undefined).openSession({ body: { key, kind: 'secret', ttl: UNLOCK_TTL } })
  if (opened.namespace !== session.namespace)
    throw new Error(`this key is for the namespace ${opened.namespace}, not ${session.namespace}`)
  writer = clientWith(opened.token)
  set({ ...session, unlockedUntil: Date.parse(opened.expiresAt) })
}

/** Locks actions, and ends the token that unlocked them. */
export function lock(): void {
  const client = writer
  writer = undefined
  if (session.unlockedUntil !== undefined) set({ ...session, unlockedUntil: undefined })
  void client?.endSession().catch(() => {})
}

// Sessions of the console: a key, or a code that stands for one, is exchanged for a token that expires
// (docs/security.md#sessions). A token never gives more than the key, and ends with it.

import type { SESSION_KINDS } from '@perdure/protocol'
import { cutText } from '@perdure/protocol'
import type { StoredKey } from '../../domain/model/api-key.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { Admin } from '../../ports/admin.ts'
import type { Core } from '../commit/core.ts'
import { type FoundKey, hashKey, type KeyRing, newKey } from './keys.ts'

type SessionKind = (typeof SESSION_KINDS)[number]

export const SESSION_MS_MIN = 60_000
/** Maximum duration of a session, and the default. */
export const SESSION_MS_MAX = 12 * 3_600_000
/** Time from the creation of a code to the latest exchange. */
const CODE_MS = 60_000
/** Live sessions and codes of one key; a further one ends the oldest. */
const SESSIONS_PER_KEY_MAX = 100
const LABEL_CHARS_MAX = 128

export interface SessionsDeps extends Pick<Core, 'clock' | 'ids'> {
  admin: Admin
  keys: KeyRing
  /** Reads at once what was written. */
  refresh(): Promise<void>
}

export interface Session extends Pick<StoredKey, 'namespace' | 'kind' | 'label'> {
  token: string
  expiresAt: number
}

export class Sessions {
  readonly #deps: SessionsDeps

  constructor(deps: SessionsDeps) {
    this.#deps = deps
  }

  /**
   * Opens a session with a key.
   * @throws EngineError `unauthorized` if the key is not valid, `forbidden` if the session would give more than the key.
   */
  async open(key: string, kind: SessionKind, lastsMs: number): Promise<Session> {
    const token = newKey('session')
    const stored = await this.#add(await this.#parent(key), { kind, hash: hashKey(token), lastsMs })
    return { ...shown(stored), token, expiresAt: stored.expiresAt as number }
  }

  /**
   * Makes a code that opens one session of this kind, once, within `CODE_MS`.
   * @throws EngineError `forbidden` for the token of a session: a session cannot open sessions.
   */
  async makeCode(key: string, kind: SessionKind): Promise<{ code: string; expiresAt: number }> {
    const code = newKey('code')
    const options = { kind, hash: hashKey(code), lastsMs: CODE_MS, isCode: true }
    const { expiresAt } = await this.#add(await this.#parent(key), options)
    return { code, expiresAt: expiresAt as number }
  }

  /**
   * Opens the session that the code stands for.
   * @throws EngineError `unauthorized` if there is no such code, or no longer one.
   */
  async redeem(code: string, lastsMs: number): Promise<Session> {
    const { admin, clock, keys, refresh } = this.#deps
    const now = clock.now()
    const token = newKey('session')
    const session = { hash: hashKey(token), expiresAt: now + lastsMs }
    const stored = await admin.redeemCode(hashKey(code), session, now)
    if (stored) await refresh()
    // The key behind the code may have ended since.
    if (!stored || !keys.find(token)) throw new EngineError('unauthorized', 'the code is not valid, or has expired')
    return { ...shown(stored), token, expiresAt: session.expiresAt }
  }

  /**
   * Ends the session of a token.
   * @throws EngineError `conflict` for a key that is no session.
   */
  async end(token: string): Promise<void> {
    const { admin, clock, keys, refresh } = this.#deps
    const session = keys.find(token)
    if (!session || keys.findLasting(token)) {
      throw new EngineError('conflict', 'the key is not a session token: revoke it instead')
    }
    await admin.revokeKey(session.id, clock.now())
    await refresh()
  }

  async #parent(key: string): Promise<FoundKey & Pick<StoredKey, 'hash'>> {
    const { keys } = this.#deps
    if (!keys.find(key)) await keys.reread()
    const parent = keys.findLasting(key)
    if (parent) return parent
    if (keys.find(key)) throw new EngineError('forbidden', 'a session cannot open another session: send an API key')
    throw keys.refusalOf(key)
  }

  async #add(
    parent: FoundKey & Pick<StoredKey, 'hash'>,
    { kind, hash, lastsMs, isCode }: { kind: SessionKind; hash: string; lastsMs: number; isCode?: boolean },
  ): Promise<StoredKey> {
    const { admin, clock, ids, refresh } = this.#deps
    if (parent.kind !== 'secret' && parent.kind !== kind) {
      throw new EngineError('forbidden', `a key of kind ${parent.kind} cannot open a session of kind ${kind}`, {
        details: { kind: parent.kind, needs: kind === 'read' ? ['secret', 'read'] : ['secret'] },
      })
    }
    const now = clock.now()
    await admin.dropExpired(now)
    await this.#makeRoom(parent.hash, now)
    const session: StoredKey = {
      id: ids.next('key', now),
      namespace: parent.namespace,
      label: cutText(`console: ${parent.label}`, LABEL_CHARS_MAX),
      kind,
      hash,
      createdAt: now,
      parentHash: parent.hash,
      expiresAt: Math.min(now + lastsMs, parent.expiresAt ?? Number.POSITIVE_INFINITY),
      isCode,
    }
    await admin.addKey(session)
    await refresh()
    return session
  }

  /** Ends the oldest sessions of a key that has too many. */
  async #makeRoom(parentHash: string, now: number): Promise<void> {
    const { admin } = this.#deps
    const open = (await admin.keys()).filter(key => key.parentHash === parentHash && key.revokedAt === undefined)
    const excess = Math.max(0, open.length + 1 - SESSIONS_PER_KEY_MAX)
    for (const { id } of open.slice(0, excess)) await admin.revokeKey(id, now)
  }
}

function shown({ namespace, kind, label }: StoredKey): Pick<StoredKey, 'namespace' | 'kind' | 'label'> {
  return { namespace, kind, label }
}

// Makes and checks the tokens that read one run (docs/security.md#run-tokens). A token counts until it expires, the key that
// made it is gone, or its namespace is suspended. Called by the HTTP interface.

import { EngineError } from '../../domain/model/errors.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import type { RunGrant, RunTokens } from '../support/run-tokens.ts'
import type { KeyRing } from './keys.ts'

export interface RunAccessDeps extends Pick<Core, 'store' | 'namespaces' | 'clock' | 'audit'> {
  runTokens: RunTokens
  keys: KeyRing
}

/** A run token with its end. */
export interface MadeToken {
  token: string
  expiresAt: number
}

/** A token of an engine without keys. */
const NO_KEY = { keyId: '', keyPrint: '' }

export class RunAccess {
  readonly #deps: RunAccessDeps

  constructor(deps: RunAccessDeps) {
    this.#deps = deps
  }

  /**
   * Makes a token for a run of the caller's namespace, with an entry in the audit log.
   * @throws EngineError `not_found`.
   */
  async grant(actor: Actor, runId: string, lastsMs: number): Promise<MadeToken> {
    const run = await this.#deps.store.in(actor.namespace).run(runId)
    if (!run) throw new EngineError('not_found', 'no such run')
    const made = this.make(actor, run, lastsMs)
    const detail = JSON.stringify({ expiresAt: new Date(made.expiresAt).toISOString() })
    await this.#deps.audit.commit(actor, { guards: [], changes: [] }, { action: 'run.token', runId: run.id, detail })
    return made
  }

  /** Makes a token for a run that the caller has just started. */
  make({ namespace, keyId }: Actor, { id, chainId }: Pick<Run, 'id' | 'chainId'>, lastsMs: number): MadeToken {
    const { clock, runTokens } = this.#deps
    const expiresAt = clock.now() + lastsMs
    const key = this.#keyOf(keyId)
    return { token: runTokens.tokenOf({ namespace, runId: chainId ?? id, expiresAt, ...key }), expiresAt }
  }

  /**
   * Returns the content of a token that counts now.
   * @throws EngineError `unauthorized`.
   */
  read(token: string): RunGrant {
    const grant = this.#deps.runTokens.read(token)
    if (!grant) throw new EngineError('unauthorized', 'the run token is not valid')
    this.check(grant)
    return grant
  }

  /** @throws EngineError `unauthorized` if the token does not count any more. */
  check({ namespace, expiresAt, keyId, keyPrint }: RunGrant): void {
    const { clock, keys, runTokens, namespaces } = this.#deps
    if (clock.now() >= expiresAt) throw ended('it has expired')
    const key = keys.holder(keyId)
    const isOfKey = key?.namespace === namespace && runTokens.printOf(key) === keyPrint
    if (keyId === '' ? !keys.open : !isOfKey) throw ended('the API key that created it no longer exists')
    if (namespaces.isSuspended(namespace)) throw ended('its namespace is suspended')
  }

  /** Calls `end` when the token no longer counts, until the returned function is called. Does nothing without a token. */
  onEnd(grant: RunGrant | undefined, end: () => void): () => void {
    if (!grant) return () => {}
    const { clock, keys } = this.#deps
    const cancel = clock.at(grant.expiresAt, end)
    const leave = keys.onChange(() => {
      if (!this.counts(grant)) end()
    })
    return () => {
      cancel()
      leave()
    }
  }

  /** Whether the token counts now. */
  counts(grant: RunGrant): boolean {
    try {
      this.check(grant)
      return true
    } catch (error) {
      if (error instanceof EngineError) return false
      throw error
    }
  }

  /**
   * Throws unless the token may read this run: the runs of one chain count as one run.
   * @throws EngineError `forbidden`, also for a run that does not exist.
   */
  async requireRun({ namespace, runId }: RunGrant, wanted: string): Promise<void> {
    if (wanted === runId) return
    const run = await this.#deps.store.in(namespace).run(wanted)
    if (run?.chainId !== runId) throw new EngineError('forbidden', 'the run token is for another run')
  }

  #keyOf(keyId: string | undefined): Pick<RunGrant, 'keyId' | 'keyPrint'> {
    if (keyId === undefined) return NO_KEY
    const { keys, runTokens } = this.#deps
    const key = keys.holder(keyId)
    // The key was revoked while the request was under way.
    if (!key) throw new EngineError('unauthorized', 'the API key is not valid')
    return { keyId, keyPrint: runTokens.printOf(key) }
  }
}

function ended(why: string): EngineError {
  return new EngineError('unauthorized', `the run token is no longer valid: ${why}`)
}

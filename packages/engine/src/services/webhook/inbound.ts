// Turns posts of providers to receivers into events, once their signature is verified (docs/webhooks.md#receive-webhooks).
// Called by the HTTP routes.

import { createHash } from 'node:crypto'
import { EngineError, ERROR_CODES } from '../../domain/model/errors.ts'
import type { Receipt, Receiver } from '../../domain/model/receiver.ts'
import { splice } from '../../domain/text/json-splice.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import { handshakeReply, webhookData } from '../../domain/webhook/body.ts'
import type { Refusal, RefusalCause } from '../../domain/webhook/refusal.ts'
import { SCHEMES, type WebhookPost } from '../../domain/webhook/schemes.ts'
import { secretsAt } from '../../domain/webhook/secrets.ts'
import { verifySignature } from '../../domain/webhook/signature-verification.ts'
import type { Core } from '../commit/core.ts'
import type { IncomingEvent, Ingest } from '../event/ingest.ts'
import type { AcceptedPosts } from './accepted-posts.ts'
import { Refusals } from './refusals.ts'
import type { Vault } from './vault.ts'

export interface InboundDeps extends Pick<Core, 'catalog' | 'clock'> {
  ingest: Pick<Ingest, 'send'>
  vault: Vault
  accepted: AcceptedPosts
}

const NO_RECEIVER = 'no such webhook receiver'

/** The parts of a refused post that are kept. */
type About = Pick<Refusal, 'sizeBytes' | 'address'>

export class Inbound {
  readonly #deps: InboundDeps
  readonly #refusals = new Refusals()

  constructor(deps: InboundDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when the event is durable. A repeat of the provider's message id has no effect, nor has a repeat of the body where
   * the signature does not cover the id. Throws `not_found` when no enabled receiver has the slug, `unauthorized` when the
   * signature does not verify.
   */
  async receive(slug: string, post: WebhookPost, address?: string): Promise<Receipt> {
    const { catalog, clock, vault, accepted } = this.#deps
    let receiver = catalog.receiver(slug)
    // Another engine may just have created or enabled it.
    if (!receiver?.enabled && (await catalog.refresh())) receiver = catalog.receiver(slug)
    const about = { sizeBytes: post.rawBody.length, address }
    // Nothing is verified for a disabled receiver: neither the answer nor the delay distinguishes it from an unknown one.
    if (!receiver?.enabled) {
      if (receiver) this.#refused(receiver, { reason: 'disabled' }, about)
      throw new EngineError('not_found', NO_RECEIVER)
    }
    const { scheme } = receiver
    const now = clock.now()
    const sealed = { ...receiver, kind: 'receiver' } as const
    const secrets = secretsAt(receiver, now).map(secret => vault.open(secret, sealed))
    const verdict = verifySignature(scheme, secrets, { ...post, now })
    if (!verdict.ok) {
      this.#refused(receiver, verdict.fault, about)
      throw new EngineError('unauthorized', 'the signature is missing, wrong, or more than 5 minutes off')
    }
    try {
      const receipt = await this.#accept(receiver, post, verdict.messageId)
      accepted.note(receiver)
      return receipt
    } catch (error) {
      const isInvalid = error instanceof EngineError && ERROR_CODES[error.code] === 'invalid'
      if (isInvalid) this.#refused(receiver, { reason: 'invalid_body' }, about)
      throw error
    }
  }

  /** The caller of a post, for turns: its receiver. All unknown receivers are one caller. */
  callerOf(slug: string): { namespace: string; keyId: string } {
    const { namespace = '', id = '' } = this.#deps.catalog.receiver(slug) ?? {}
    return { namespace, keyId: id }
  }

  /** Records the refusal of a post that was refused before its body was read. */
  refusedUnread(slug: string, reason: 'too_large' | 'encoded', about: About): void {
    const receiver = this.#deps.catalog.receiver(slug)
    if (receiver) this.#refused(receiver, { reason }, about)
  }

  /** The last refusals of a receiver, newest first. Throws `not_found` for an id that the namespace lacks. */
  refusals(namespace: string, id: string): readonly Refusal[] {
    if (this.#deps.catalog.receivers(namespace).some(receiver => receiver.id === id)) {
      return this.#refusals.list({ namespace, id })
    }
    throw new EngineError('not_found', NO_RECEIVER)
  }

  /** When each of these receivers of the namespace last accepted a post; receivers that never did are absent. */
  lastAcceptedAt(namespace: string, receivers: readonly Receiver[]): Promise<Map<string, number>> {
    return this.#deps.accepted.lastAt(
      namespace,
      receivers.map(({ id }) => id),
    )
  }

  #refused(receiver: Receiver, cause: RefusalCause, about: About): void {
    this.#refusals.add(receiver, { at: this.#deps.clock.now(), ...cause, ...about })
  }

  /** Makes the event of a verified post. */
  async #accept(receiver: Receiver, post: WebhookPost, messageId: string | undefined): Promise<Receipt> {
    const data = webhookData(post)
    const handshake = handshakeReply(receiver.scheme, post, data)
    if (handshake !== undefined) return { handshake }
    const { isIdSigned } = SCHEMES[receiver.scheme]
    const repeat = { messageId, body: isIdSigned ? undefined : post.rawBody }
    const kept = withHeaders(data, receiver, post)
    // The commit fails if another engine has closed the receiver since it was found here.
    const refuse = () => {
      const { id, enabled = false } = this.#deps.catalog.receiver(receiver.slug) ?? {}
      if (id !== receiver.id || !enabled) throw new EngineError('not_found', NO_RECEIVER)
    }
    const { eventId } = await this.#deps.ingest.send(receiver.namespace, eventOf(receiver, kept, repeat), { refuse })
    return eventId === undefined ? { deduped: true } : { eventId }
  }
}

/** The event's data: the body, or `{headers, body}` with the headers that the receiver keeps. */
function withHeaders(
  data: JsonText | undefined,
  { keepHeaders }: Pick<Receiver, 'keepHeaders'>,
  { headers }: WebhookPost,
): JsonText | undefined {
  if (!keepHeaders) return data
  const kept = keepHeaders.flatMap(name => (headers[name] === undefined ? [] : [[name, String(headers[name])]]))
  return splice({ headers: Object.fromEntries(kept) }, { body: data })
}

function eventOf(
  { id, eventName, app, targetApp }: Receiver,
  data: string | undefined,
  repeat: { messageId: string | undefined; body: Buffer | undefined },
): IncomingEvent {
  const event = { name: eventName, app, targetApp, data, receiverId: id, dedupeScope: `receiver\n${id}` }
  const { messageId, body } = repeat
  return {
    ...event,
    ...(messageId === undefined ? {} : { dedupeId: digest(messageId) }),
    ...(body === undefined ? {} : { bodyDedupeId: `body:${digest(body)}` }),
  }
}

/** Ids of providers, and bodies, may have any length and characters. */
function digest(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}

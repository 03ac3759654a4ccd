// Turns posts of providers to receivers into events, once their signature is verified (docs/webhooks.md#receive-webhooks).
// Called by the HTTP routes.

import { createHash } from 'node:crypto'
import { EngineError } from '../../domain/model/errors.ts'
import type { Receipt, Receiver } from '../../domain/model/receiver.ts'
import { splice } from '../../domain/text/json-splice.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import { handshakeReply, webhookData } from '../../domain/webhook/body.ts'
import { SCHEMES, type WebhookPost } from '../../domain/webhook/schemes.ts'
import { secretsAt } from '../../domain/webhook/secrets.ts'
import { verifySignature } from '../../domain/webhook/signature-verification.ts'
import type { Core } from '../commit/core.ts'
import type { IncomingEvent, Ingest } from '../event/ingest.ts'
import type { Vault } from './vault.ts'

export interface InboundDeps extends Pick<Core, 'catalog' | 'clock'> {
  ingest: Pick<Ingest, 'send'>
  vault: Vault
}

export class Inbound {
  readonly #deps: InboundDeps

  constructor(deps: InboundDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when the event is durable; a repeat of the provider's message id has no effect, nor has one of the body where
   * the signature does not cover the id. Throws `not_found`
   * when no enabled receiver has the slug, `unauthorized` when the signature does not verify.
   */
  async receive(slug: string, post: WebhookPost): Promise<Receipt> {
    const { catalog, clock, vault, ingest } = this.#deps
    let receiver = catalog.receiver(slug)
    // Another engine may just have created or enabled it.
    if (!receiver?.enabled && (await catalog.refresh())) receiver = catalog.receiver(slug)
    // Nothing is verified for a disabled receiver: neither the answer nor the delay distinguishes it from an unknown one.
    if (!receiver?.enabled) throw new EngineError('not_found', 'no such webhook receiver')
    const now = clock.now()
    const secrets = secretsAt(receiver, now).map(secret => vault.open(secret, { ...receiver, kind: 'receiver' }))
    const verdict = verifySignature(receiver.scheme, secrets, { ...post, now })
    if (!verdict.ok)
      throw new EngineError('unauthorized', 'the signature is missing, wrong, or more than 5 minutes off')
    const data = webhookData(post)
    const handshake = handshakeReply(receiver.scheme, post, data)
    if (handshake !== undefined) return { handshake }
    const { isIdSigned } = SCHEMES[receiver.scheme]
    const repeat = { messageId: verdict.messageId, body: isIdSigned ? undefined : post.rawBody }
    const kept = withHeaders(data, receiver, post)
    const { eventId } = await ingest.send(receiver.namespace, eventOf(receiver, kept, repeat))
    return eventId === undefined ? { deduped: true } : { eventId }
  }
}

/** The event's data: the body, or with the headers that the receiver keeps `{headers, body}`. */
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

/** Ids of providers, and bodies, have no bound of length or characters. */
function digest(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}

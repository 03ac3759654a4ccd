// Webhook: a durable, unsigned delivery to a URL that the workflow names (docs/webhooks.md#custom-sends), created in the
// commit of the pass that reports it.

import { type StepError, URL_CHARS_MAX } from '@perdure/protocol'
import Type from 'typebox'
import { newDelivery } from '../../model/delivery.ts'
import { stepLineKey } from '../../model/log-line.ts'
import type { Draft } from '../../run/draft.ts'
import { derivedId } from '../../text/ids.ts'
import { hasForbiddenCharacters } from '../../text/name.ts'
import { compiledOnce } from '../../text/schema/compiled-schema.ts'
import { runTraceparent } from '../../text/traceparent.ts'
import type { OpcodeRules, PassOpcodeOf } from './opcode.ts'
import { recordFailed, recordSucceeded } from './record.ts'

// Counts characters like every other bound of the interface.
const boundedUrl = compiledOnce(Type.String({ maxLength: URL_CHARS_MAX }))

const WEBHOOK_URL_ERROR: StepError = {
  name: 'WebhookUrlError',
  message: `webhookUrl must be an http or https URL of at most ${URL_CHARS_MAX} characters, without credentials or control characters.`,
}

export const webhook: OpcodeRules<'Webhook'> = {
  payload: 'data',
  runsOnRunner: false,
  parksFor: null,
  whenDue: null,
  draft(pass, opcode) {
    const { draft, context } = pass
    const { webhookUrl: url } = opcode
    if (!isWebhookUrl(url)) return recordFailed(pass, opcode, WEBHOOK_URL_ERROR)
    const { namespace, app, id: runId } = draft.run
    const id = derivedId('dlv', context.now, runId, opcode.id)
    const delivery = newDelivery(context.now, {
      namespace,
      id,
      app,
      url,
      eventKind: 'custom',
      trace: runTraceparent(draft.run),
      maxAttempts: context.catalog.deliveryAttemptsMax,
      ...(opcode.data === undefined ? {} : { payload: opcode.data }),
    })
    draft.changes.push({ type: 'delivery.created', delivery })
    if (context.catalog.webhookAddresses?.refuses(url)) warnOfRefusal(draft, opcode, url)
    return recordSucceeded(pass, opcode, { data: `{"deliveryId":"${id}"}`, deliveryId: id })
  },
}

/** Warns in the run's log now: the delivery will be dead, and the run may have ended by then. */
function warnOfRefusal(draft: Draft, { id, name }: PassOpcodeOf<'Webhook'>, url: string): void {
  const message =
    `The webhook to ${new URL(url).host} will not be delivered: the engine calls only public addresses. ` +
    'To allow other hosts, list them in ENGINE_WEBHOOK_ALLOW, or set ENGINE_WEBHOOK_ALLOW_PRIVATE=1 if all are trusted.'
  draft.log({ level: 'warn', message, scope: name, attempt: 1, index: 0, dedupe: stepLineKey(id, 1, 0) })
}

/** Whether the URL is allowed. A URL with credentials is refused: everybody who reads the delivery would see them. */
function isWebhookUrl(url: unknown): url is string {
  if (!boundedUrl().Check(url) || hasForbiddenCharacters(url) || !URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

// Run notices: webhook deliveries to subscribed endpoints about ended runs and failed steps
// (docs/webhooks.md#what-endpoints-receive). They are written in the commit of the transition, so none is lost or invented.

import type { CatalogView } from '../model/catalog.ts'
import { newDelivery } from '../model/delivery.ts'
import type { NoticeKind } from '../model/endpoint.ts'
import type { Step } from '../model/step.ts'
import { derivedId } from '../text/ids.ts'
import { splice } from '../text/json-splice.ts'
import type { JsonText } from '../text/json-text.ts'
import { timestamp } from '../text/timestamp.ts'
import { bounded, boundedEndText } from '../view/run-end.ts'
import { runSummary } from '../view/run-summary.ts'
import type { Draft } from './draft.ts'

/** Notifies endpoints that the drafted run has ended. Call it after the run has its terminal status. */
export function notifyRunEnded(draft: Draft, catalog: CatalogView): void {
  const kind = `run.${draft.run.status}` as NoticeKind
  notify(draft, catalog, kind, [], () => `{"run":${boundedEndText(runSummary(draft.run), draft.run.result)}}`)
}

/** Notifies endpoints that a step of the drafted run has failed for good. */
export function notifyStepFailed(draft: Draft, step: Step, catalog: CatalogView): void {
  const { id, name, attempt, error, spentAt } = step
  // A step that was tried again after a pause may fail for good again.
  const parts = spentAt === undefined ? [id] : [id, String(attempt)]
  notify(draft, catalog, 'step.failed', parts, () => {
    const run = JSON.stringify(bounded(runSummary(draft.run)))
    return `{"run":${run},"step":${JSON.stringify(bounded({ id, name, attempt, error }))}}`
  })
}

/** `parts` distinguish this transition from others of the same kind and run: the delivery's id is derived from these. */
function notify(
  draft: Draft,
  catalog: CatalogView,
  kind: NoticeKind,
  parts: readonly string[],
  data: () => JsonText,
): void {
  const subscribers = catalog.subscribers(kind, draft.run.app)
  if (subscribers.length === 0) return
  const payload = splice({ type: kind, timestamp: timestamp(draft.now) }, { data: data() })
  const { namespace, app, id: sourceRunId, trace } = draft.run
  for (const endpoint of subscribers) {
    const delivery = newDelivery(draft.now, {
      namespace,
      id: derivedId('dlv', draft.now, sourceRunId, kind, ...parts, endpoint.id),
      app,
      endpointId: endpoint.id,
      url: endpoint.url,
      eventKind: kind,
      sourceRunId,
      trace,
      payload,
      maxAttempts: catalog.deliveryAttemptsMax,
    })
    draft.changes.push({ type: 'delivery.created', delivery })
  }
}

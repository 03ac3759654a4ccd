// The spans of the services: their names, attributes and ends. Called by ingest, the driver and the deliverer where the
// engine traces. No payload, no message and no path of a URL goes into a span.

import { isConnectUrl } from '../../domain/model/connect-url.ts'
import type { Delivery } from '../../domain/model/delivery.ts'
import type { Event } from '../../domain/model/event.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Step } from '../../domain/model/step.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import type { Outcome } from '../../domain/pass/answer/outcome.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import { signalOf } from '../../domain/text/name.ts'
import { runTraceparent, type Traceparent } from '../../domain/text/traceparent.ts'
import type { SendResult } from '../../domain/webhook/delivery-attempt.ts'
import type { Span, SpanAttributes, Tracing } from '../../ports/tracing.ts'

/** Starts the span of an event that is accepted; it is the parent of the runs that the event starts. */
export function startEventSpan(
  tracing: Tracing,
  { id, name, namespace, receivedAt }: Pick<Event, 'id' | 'name' | 'namespace' | 'receivedAt'>,
  parent: Traceparent | undefined,
): Span {
  const attributes = {
    'perdure.namespace': namespace,
    'perdure.event.id': id,
    'perdure.event.name': signalOf(name) ?? name,
  }
  return tracing.start('perdure.event', { parent, kind: 'producer', attributes, startedAt: receivedAt })
}

/** Starts the span of one stretch of a run: from its lease on this engine until it parks or ends. */
export function startRunSpan(tracing: Tracing, run: Run, now: number): Span {
  return tracing.start('perdure.run', {
    parent: runTraceparent(run),
    kind: 'internal',
    attributes: runAttributes(run),
    startedAt: now,
  })
}

export function endRunSpan(span: Span, run: Run, now: number): void {
  span.set({ 'perdure.run.status': run.status, 'perdure.run.attempt': run.attempt })
  if (run.status === 'failed') span.fail(run.error?.code ?? 'run_failed')
  span.end(now)
}

/** Starts the span of one call of a runner. */
export function startInvokeSpan(tracing: Tracing, run: Run, parent: Traceparent, now: number): Span {
  const attributes = { ...runAttributes(run), 'perdure.run.attempt': run.attempt }
  return tracing.start('perdure.invoke', { parent, kind: 'client', attributes, startedAt: now })
}

/** The runner that a pass is sent to: its id, and its server. A runner behind a socket has no server address. */
export function runnerAttributes({ runnerId, url }: Pick<Runner, 'runnerId' | 'url'>): SpanAttributes {
  return { 'perdure.runner': runnerId, ...(isConnectUrl(url) ? {} : serverAttributes(url)) }
}

export function endInvokeSpan(span: Span, outcome: Outcome | 'held' | 'full' | 'aborted', now: number): void {
  const kind = typeof outcome === 'string' ? outcome : outcome.kind
  span.set({ 'perdure.invoke.outcome': kind })
  if (kind === 'held') span.fail('no_runner')
  if (kind === 'transportFailed') span.fail('transport_failed')
  if (typeof outcome === 'object' && outcome.kind === 'rejected') span.fail(outcome.error.code ?? kind)
  span.end(now)
}

/** Starts the span of one POST of a webhook delivery. */
export function startDeliverySpan(
  tracing: Tracing,
  { id, namespace, app, eventKind, sourceRunId, attemptCount }: Delivery,
  { parent, url, now }: { parent: Traceparent; url: string; now: number },
): Span {
  const attributes = {
    'perdure.namespace': namespace,
    'perdure.app': app,
    'perdure.run.id': shownRunId(sourceRunId),
    'perdure.delivery.id': id,
    'perdure.delivery.kind': eventKind,
    'perdure.delivery.attempt': attemptCount + 1,
    'http.request.method': 'POST',
    ...serverAttributes(url),
  }
  return tracing.start('perdure.delivery', { parent, kind: 'client', attributes, startedAt: now })
}

export function endDeliverySpan(span: Span, result: SendResult, now: number): void {
  if (result.kind === 'answered') span.set({ 'http.response.status_code': result.status })
  if (result.kind !== 'answered') span.fail(result.kind)
  else if (result.status >= 300) span.fail(String(result.status))
  span.end(now)
}

/** Records a span for each step that has a result, below the pass that reported it. */
export function recordStepSpans(
  tracing: Tracing,
  steps: readonly Step[],
  { parent, now }: { parent: Traceparent; now: number },
): void {
  for (const step of steps) {
    const hasFailed = step.status === 'failed' || step.status === 'retrying'
    if (!hasFailed && step.status !== 'succeeded') continue
    const endedAt = step.finishedAt ?? now
    const span = tracing.start('perdure.step', {
      parent,
      kind: 'internal',
      attributes: stepAttributes(step),
      startedAt: Math.min(step.startedAt, endedAt),
    })
    if (hasFailed) span.fail('step_failed')
    span.end(endedAt)
  }
}

function runAttributes({ id, namespace, app, workflow }: Run): SpanAttributes {
  return {
    'perdure.namespace': namespace,
    'perdure.app': app,
    'perdure.workflow': workflow,
    'perdure.run.id': shownRunId(id),
  }
}

function stepAttributes({ runId, name, op, status, attempt }: Step): SpanAttributes {
  return {
    'perdure.run.id': shownRunId(runId),
    'perdure.step.name': name,
    'perdure.step.op': op,
    'perdure.step.status': status,
    'perdure.step.attempt': attempt,
  }
}

/** The server of a URL, as the semantic conventions name it, and nothing else of the URL. */
function serverAttributes(url: string): SpanAttributes {
  if (!URL.canParse(url)) return {}
  const { hostname, port, protocol } = new URL(url)
  const number = Number(port) || (protocol === 'https:' ? 443 : 80)
  return { 'server.address': hostname, 'server.port': number }
}

// The words of `perdure` for the operations that the console calls. An operation without an entry has no such command.

import type { Calls, Input } from '@perdure/client'
import { sourceOf } from '../json/parse.ts'

type OperationId = keyof Calls
type Words = { readonly [Id in OperationId]?: (input: Input<Id>) => string[] | undefined }

/** The options whose names differ from the parameters' names. */
const OPTIONS: Readonly<Record<string, string>> = {
  q: 'query',
  parentRunId: 'parent',
  bulkId: 'bulk',
  runId: 'run',
  eventId: 'event',
  endpointId: 'endpoint',
  sourceRunId: 'run',
  eventKind: 'kind',
}

const optionOf = (name: string) => `--${OPTIONS[name] ?? name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`

/** Returns the options for these values; a list becomes one text with commas. */
function options(input: object, leftOut: readonly string[] = []): string[] {
  return Object.entries(input).flatMap(([name, value]) => {
    if (value === undefined || value === false || leftOut.includes(name)) return []
    if (name === 'attribute') return [value].flat().flatMap(each => ['--attribute', String(each)])
    return value === true ? [optionOf(name)] : [optionOf(name), String(value)]
  })
}

const list =
  (...words: string[]) =>
  (input: object) => [...words, ...options(input, ['cursor'])]
const one =
  (...words: string[]) =>
  ({ id }: { id: string }) => [...words, id]

type WebhookUpdate = Input<'updateWebhookEndpoint' | 'updateWebhookReceiver'>['body']

/** Returns the options for updating an endpoint or a receiver: the switch, the secrets, and the fields. Null removes a field. */
const changes = ({ enabled, rotateSecret, revokeOldSecrets, ...fields }: WebhookUpdate) => [
  ...(enabled === undefined ? [] : [enabled ? '--enable' : '--disable']),
  ...options({ rotateSecret, revokeOldSecrets }),
  ...Object.entries(fields).flatMap(([name, value]) =>
    value === null ? [optionOf(name).replace('--', '--no-')] : options({ [name === 'url' ? 'to' : name]: value }),
  ),
]

const dataOption = (body: { data?: unknown } | undefined) =>
  body?.data === undefined ? [] : ['--data', sourceOf(body.data)]

const BULK_VERBS = {
  cancel: 'cancel',
  pause: 'pause',
  resume: 'resume',
  replay: 'replay',
  'retry-failed-step': 'retry',
}

const ERROR_VERBS = { resolved: 'resolve', ignored: 'ignore', open: 'reopen' }

export const PERDURE: Words = {
  listRuns: list('runs', 'list'),
  getRun: one('runs', 'get'),
  getRunFacets: list('stats', 'facets'),
  listErrors: list('runs', 'errors'),
  setErrorState: ({ fingerprint, body }) => ['runs', `${ERROR_VERBS[body.state]}-error`, fingerprint],
  getRunSeries: list('stats', 'series'),
  getWorkflowStats: list('stats', 'workflows'),
  cancelRun: ({ id, body }) => ['runs', 'cancel', id, ...(body?.cleanup === false ? ['--no-cleanup'] : [])],
  pauseRun: one('runs', 'pause'),
  resumeRun: one('runs', 'resume'),
  eraseRun: ({ id }) => ['runs', 'erase', id, '--yes'],
  replayRun: ({ id, body }) => [
    ...['runs', 'replay', id],
    ...(body?.input === undefined ? [] : ['--input', sourceOf(body.input)]),
  ],
  retryRunFromStep: ({ id, body }) => ['runs', 'retry', id, '--step', body.step],
  settleStep: ({ id, stepId, body: { data, error, reason } }) => [
    ...['runs', 'settle', id, stepId],
    ...(error ? ['--error', error.message] : ['--data', sourceOf(data)]),
    ...['--reason', reason],
  ],
  signalRun: ({ id, name, body }) => ['runs', 'signal', id, name, ...dataOption(body)],
  updateRun: ({ id, name, body, wait }) => [
    ...['runs', 'update', id, name, ...dataOption(body)],
    ...(wait === undefined ? [] : ['--wait', `${wait}ms`]),
  ],
  listRunSignals: one('runs', 'signals'),
  listRunStreams: one('runs', 'streams'),
  setRunBudget: ({ id, body }) => [
    ...['runs', 'budget', id],
    ...Object.entries(body).map(([name, limit]) => `${name}=${limit ?? 'none'}`),
  ],
  createRunToken: ({ id, body }) => [
    ...['runs', 'token', id],
    ...(body?.ttl === undefined ? [] : ['--ttl', typeof body.ttl === 'number' ? `${body.ttl}ms` : body.ttl]),
  ],
  startBulk: ({ body: { action, filter, input, dryRun, cleanup } }) =>
    filter
      ? [
          ...['runs', BULK_VERBS[action], ...options(filter)],
          ...(input === undefined ? [] : ['--input', sourceOf(input)]),
          ...(cleanup === false ? ['--no-cleanup'] : []),
          dryRun ? '--preview' : '--yes',
        ]
      : undefined,
  listBulks: list('bulk', 'list'),
  getBulk: one('bulk', 'get'),
  stopBulk: one('bulk', 'stop'),
  listControlActions: list('audit'),
  listEvents: list('events', 'list'),
  listEventNames: list('events', 'names'),
  getEvent: one('events', 'get'),
  sendEvent: ({ body: { name, data, app, dedupeId } }) => [
    ...['events', 'send', name],
    ...(data === undefined ? [] : ['--data', sourceOf(data)]),
    ...options({ app, dedupeId }),
  ],
  redriveEvent: ({ id, body: { workflow, app } }) => ['events', 'redrive', id, ...options({ workflow, app })],
  listSchedules: list('schedules', 'list'),
  putSchedule: ({ id, body: { event, ...rest } }) => [
    ...['schedules', 'put', id, event.name, ...dataOption(event)],
    ...options({ ...rest, app: event.app }),
  ],
  deleteSchedule: one('schedules', 'delete'),
  pauseSchedule: one('schedules', 'pause'),
  resumeSchedule: one('schedules', 'resume'),
  fireSchedule: one('schedules', 'fire'),
  listApps: () => ['apps'],
  listRunners: list('runners'),
  listEngines: () => ['engines'],
  listLimits: list('limits'),
  listBuffers: list('buffers', 'list'),
  flushBuffer: one('buffers', 'flush'),
  releaseEngine: () => ['engine', 'release'],
  listWorkflows: list('workflows'),
  listDefinitions: ({ app, name }) => ['workflows', 'definitions', app, name],
  startRun: ({ app, name, body }) => [
    ...['workflows', 'start', app, name],
    ...(body?.input === undefined ? [] : ['--input', sourceOf(body.input)]),
    ...options({ dryRun: body?.dryRun }),
  ],
  deleteWorkflow: ({ app, name, force }) => ['workflows', 'delete', app, name, ...(force ? ['--force'] : []), '--yes'],
  pauseWorkflow: ({ app, name }) => ['workflows', 'pause', app, name],
  resumeWorkflow: ({ app, name }) => ['workflows', 'resume', app, name],
  setWorkflowLimits: ({ app, name, body }) => [
    ...['workflows', 'limits', app, name],
    ...Object.entries(body).map(([limit, value]) => `${limit}=${value ?? 'none'}`),
  ],
  removeWorkflowLimits: ({ app, name }) => ['workflows', 'reset-limits', app, name],
  listApiKeys: () => ['keys', 'list'],
  createApiKey: ({ body: { kind, label, expiresAt } }) => [
    ...['keys', 'create'],
    ...options({ kind, label, expires: expiresAt }),
  ],
  revokeApiKey: one('keys', 'revoke'),
  getWebhookDeliveryFacets: list('webhooks', 'deliveries', 'facets'),
  listWebhookDeliveries: list('webhooks', 'deliveries', 'list'),
  getWebhookDelivery: one('webhooks', 'deliveries', 'get'),
  redeliverWebhook: one('webhooks', 'redeliver'),
  listWebhookEndpoints: () => ['webhooks', 'endpoints', 'list'],
  getWebhookEndpointStats: list('webhooks', 'endpoints', 'stats'),
  createWebhookEndpoint: ({ body: { url, eventKinds, app, name } }) => [
    ...['webhooks', 'endpoints', 'create', url],
    ...options({ eventKinds: eventKinds.length > 0 ? eventKinds : undefined, app, name }),
  ],
  updateWebhookEndpoint: ({ id, body }) => ['webhooks', 'endpoints', 'update', id, ...changes(body)],
  testWebhookEndpoint: one('webhooks', 'endpoints', 'test'),
  deleteWebhookEndpoint: one('webhooks', 'endpoints', 'delete'),
  listWebhookReceivers: () => ['webhooks', 'receivers', 'list'],
  createWebhookReceiver: ({ body: { eventName, scheme, slug, name, app, secret } }) => [
    ...['webhooks', 'receivers', 'create', eventName],
    // A secret on the command line would end up in the shell's history.
    ...options({ scheme, slug, name, app, secret: secret && '@secret.txt' }),
  ],
  updateWebhookReceiver: ({ id, body }) => ['webhooks', 'receivers', 'update', id, ...changes(body)],
  deleteWebhookReceiver: one('webhooks', 'receivers', 'delete'),
}

// The `perdure` commands that the console shows are valid: the command line accepts their words and options.

import { expect, test } from 'vitest'
import { ran } from '../../../packages/cli/src/ran.testkit.ts'
import { PERDURE } from '../../../packages/console/src/data/commands/perdure.ts'

/** An address where no engine listens. */
const NOWHERE = ['--url', 'http://127.0.0.1:1']
const EXIT_USAGE = 2

/** Inputs of operations. The other operations take an id or nothing. */
const INPUTS: Record<string, unknown> = {
  listRuns: { status: 'failed', workflow: 'order', error: '3f9a', since: '2026-01-01T00:00:00Z', attribute: ['a:b'] },
  sendEvent: { body: { name: 'order.placed', data: { n: 1 }, app: 'shop', dedupeId: 'once' } },
  redriveEvent: { id: 'evt_1', body: { workflow: 'order', app: 'shop' } },
  startBulk: {
    body: { action: 'pause', filter: { workflow: 'order', status: 'queued', parentRunId: 'run_1' }, dryRun: true },
  },
  getRunFacets: { app: 'shop', workflow: 'order', since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' },
  createApiKey: { body: { kind: 'read', label: 'audit', expiresAt: '2099-01-01T00:00:00Z' } },
  replayRun: { id: 'run_1', body: { input: { n: 1 } } },
  retryRunFromStep: { id: 'run_1', body: { step: 'charge' } },
  startRun: { app: 'shop', name: 'order', body: { input: {}, dryRun: true } },
  deleteWorkflow: { app: 'shop', name: 'order', force: true },
  pauseWorkflow: { app: 'shop', name: 'order' },
  resumeWorkflow: { app: 'shop', name: 'order' },
  setWorkflowLimits: { app: 'shop', name: 'order', body: { concurrency: 2, throttle: null } },
  removeWorkflowLimits: { app: 'shop', name: 'order' },
  createWebhookEndpoint: { body: { url: 'https://a.example', eventKinds: ['run.failed'], app: 'shop', name: 'ops' } },
  updateWebhookEndpoint: {
    id: 'whe_1',
    body: { enabled: false, rotateSecret: true, url: 'https://a.example', app: null, eventKinds: ['run.failed'] },
  },
  createWebhookReceiver: {
    body: { eventName: 'repo/pushed', scheme: 'github', slug: 'pushes', name: 'ops', app: 'shop' },
  },
  updateWebhookReceiver: {
    id: 'whr_1',
    body: {
      enabled: true,
      rotateSecret: true,
      revokeOldSecrets: true,
      eventName: 'x',
      keepHeaders: ['a', 'b'],
      targetApp: null,
    },
  },
  listWebhookDeliveries: {
    status: 'failed',
    eventKind: 'run.failed',
    endpointId: 'whe_1',
    app: 'shop',
    since: '2026-01-01T00:00:00Z',
    until: '2026-01-02T00:00:00Z',
  },
  getWebhookDeliveryFacets: { eventKind: 'run.failed', endpointId: 'whe_1', since: '2026-01-01T00:00:00Z' },
  listEvents: {
    name: 'order.placed',
    app: 'shop',
    source: 'api',
    since: '2026-01-01T00:00:00Z',
    until: '2026-01-02T00:00:00Z',
  },
  listSchedules: { source: 'api' },
  putSchedule: {
    id: 'weekly',
    body: {
      event: { name: 'report.weekly', app: 'shop', data: { n: 1 } },
      ...{ cron: '0 9 * * 1', timezone: 'Europe/Berlin', catchUp: 'all', ifAbsent: true },
    },
  },
  getWorkflowStats: {
    app: 'shop',
    workflow: 'order',
    since: '2026-01-01T00:00:00Z',
    until: '2026-01-02T00:00:00Z',
    trend: 32,
  },
  releaseEngine: {},
  setRunBudget: { id: 'run_1', body: { usd: 10, tokens: null } },
  createRunToken: { id: 'run_1', body: { ttl: '15m' } },
  listRunSignals: { id: 'run_1' },
  listRunStreams: { id: 'run_1' },
  signalRun: { id: 'run_1', name: 'go', body: { data: 1 } },
  updateRun: { id: 'run_1', name: 'ask', body: { data: 1 }, wait: 20_000 },
  settleStep: { id: 'run_1', stepId: 'nap', body: { data: 1, reason: 'it hangs' } },
  listControlActions: { action: 'cancel', actor: 'ada', runId: 'run_1', until: '2026-01-02T00:00:00Z' },
  listDefinitions: { app: 'shop', name: 'order', limit: 50 },
  listLimits: { app: 'shop', workflow: 'order', kind: 'singleton', key: 'acct-17' },
  setErrorState: { fingerprint: '3f9a1c0d5e7b2846', body: { state: 'resolved' } },
  listErrors: {
    state: 'open',
    app: 'shop',
    workflow: 'order',
    since: '2026-01-01T00:00:00Z',
    until: '2026-01-02T00:00:00Z',
    trend: 24,
    runners: 10,
  },
}
/** Operations without an id. */
const LISTS = /^list|Facets$|Series$|Stats$/
/** Commands that work on this machine's store and have no address. */
const ON_THE_STORE = ['listApiKeys', 'createApiKey', 'revokeApiKey']

const OPERATIONS = Object.keys(PERDURE).filter(id => !ON_THE_STORE.includes(id))

test.each(OPERATIONS)('%s', async id => {
  const words = (PERDURE as Record<string, (input: unknown) => string[] | undefined>)[id]?.(
    INPUTS[id] ?? (LISTS.test(id) ? {} : { id: 'run_1' }),
  )
  if (words === undefined) throw new Error(`no input of ${id} has a command`)
  const { code, stderr } = await ran([...words, ...NOWHERE])
  expect(stderr).not.toMatch(/unknown|argument|Allowed/)
  expect(code).not.toBe(EXIT_USAGE)
})

// The read behind each page, for "copy as a command". Loaded when a command is copied.

import type { Call } from '../../data/commands/request.ts'
import { engineNow } from '../../data/time/clock.ts'
import { sinceParam } from '../../data/time/window.ts'
import { PARAMETERS } from '../../router/parameters.ts'
import type { PageMatch, RouteName } from '../../router/routes.ts'
import { listInput } from '../../routes/runs/query.ts'

type Get = (name: string) => string | undefined

/** Parameters that change the look of a page, but not its rows. */
const LOOKS = ['tab', 'sort', 'dir', 'cols', 'rows', 'live', 'like', 'of']

export interface PageCall {
  call: Call
  /** Filters of the page that the read lacks: the page applies them itself. */
  missing: string[]
}

/** Returns the main read of the page; undefined for a page that reads nothing. */
export function callOf({ name, params, query }: PageMatch): PageCall | undefined {
  const used = new Set(LOOKS)
  const get: Get = key => {
    used.add(key)
    return query.get(key) ?? undefined
  }
  const call = CALLS[name](params as Readonly<Record<string, string>>, get)
  const filters = PAGES_OF_ONE.has(name) ? [] : PARAMETERS[name]
  return call && { call: given(call), missing: filters.filter(key => query.has(key) && !used.has(key)) }
}

/** Pages of one thing: their parameters choose a part of it. */
const PAGES_OF_ONE: ReadonlySet<RouteName> = new Set(['run', 'event', 'delivery', 'receiver', 'bundle'])

const time = (name: 'since' | 'until', get: Get) => sinceParam(get(name), engineNow()) ?? get(name)
const times = (get: Get) => ({ since: time('since', get), until: time('until', get) })
const id = (params: Readonly<Record<string, string>>) => params.id ?? ''

/** Leaves out fields without a value, so that they do not become options. */
const given = ({ id, input }: Call): Call =>
  ({ id, input: Object.fromEntries(Object.entries(input ?? {}).filter(([, value]) => value !== undefined)) }) as Call

const CALLS: Readonly<Record<RouteName, (params: Readonly<Record<string, string>>, get: Get) => Call | undefined>> = {
  overview: (_, get) => ({ id: 'getWorkflowStats', input: times(get) }),
  runs: (_, get) => {
    const { partial: _partial, position: _position, ...input } = listInput(get)
    return { id: 'listRuns', input }
  },
  run: params => ({ id: 'getRun', input: { id: id(params) } }),
  workflows: (_, get) => {
    // The window belongs to the numbers, which are another read.
    times(get)
    return { id: 'listWorkflows', input: { app: get('app') } }
  },
  workflow: ({ app, name }, get) => ({ id: 'getWorkflowStats', input: { app, workflow: name, ...times(get) } }),
  app: ({ app }, get) => ({ id: 'getWorkflowStats', input: { app, ...times(get) } }),
  events: (_, get) => ({
    id: 'listEvents',
    input: {
      name: get('name'),
      app: get('app'),
      source: get('source') as 'api' | undefined,
      ...times(get),
    },
  }),
  // The draft is not in the address. Its commands, which send it, are on the page.
  sendEvent: () => undefined,
  event: params => ({ id: 'getEvent', input: { id: id(params) } }),
  schedules: (_, get) => ({ id: 'listSchedules', input: { source: get('source') as 'api' | undefined } }),
  limits: (_, get) => ({
    id: 'listLimits',
    input: { app: get('app'), workflow: get('workflow'), key: get('key') },
  }),
  runners: (_, get) => ({ id: 'listRunners', input: { app: get('app') } }),
  errors: (_, get) => ({
    id: 'listErrors',
    input: {
      state: (get('state') ?? 'open') as 'open',
      app: get('app'),
      workflow: get('workflow'),
      ...times(get),
    },
  }),
  errorGroup: ({ fingerprint }, get) => ({
    id: 'listRuns',
    input: { error: fingerprint, app: get('app'), workflow: get('workflow'), ...times(get) },
  }),
  deliveries: (_, get) => ({
    id: 'listWebhookDeliveries',
    input: {
      status: get('status') as 'failed' | undefined,
      app: get('app'),
      endpointId: get('endpoint'),
      eventKind: get('kind') as 'run.failed' | undefined,
      ...times(get),
    },
  }),
  delivery: params => ({ id: 'getWebhookDelivery', input: { id: id(params) } }),
  endpoints: () => ({ id: 'listWebhookEndpoints', input: {} }),
  endpoint: () => ({ id: 'listWebhookEndpoints', input: {} }),
  receivers: () => ({ id: 'listWebhookReceivers', input: {} }),
  receiver: () => ({ id: 'listWebhookReceivers', input: {} }),
  audit: (_, get) => ({
    id: 'listControlActions',
    input: {
      action: get('action') as 'cancel' | undefined,
      runId: get('run'),
      actor: get('actor'),
      ...times(get),
    },
  }),
  keys: () => ({ id: 'listApiKeys', input: {} }),
  engine: () => ({ id: 'listEngines', input: {} }),
  bulks: () => ({ id: 'listBulks', input: {} }),
  bulk: params => ({ id: 'getBulk', input: { id: id(params) } }),
  bundle: () => undefined,
}

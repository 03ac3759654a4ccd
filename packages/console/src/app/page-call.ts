// The read behind each page, for "copy as a command". Loaded when a command is copied.

import type { Call } from '../data/commands/request.ts'
import { RawJson } from '../data/json/parse.ts'
import { engineNow } from '../data/time/clock.ts'
import { sinceParam } from '../data/time/window.ts'
import type { PageMatch, RouteName } from '../router/routes.ts'
import { listInput } from '../routes/runs/query.ts'

type Get = (name: string) => string | undefined

/** The main read of the page; undefined for a page that reads nothing. */
export function callOf({ name, params, query }: PageMatch): Call | undefined {
  const get: Get = key => query.get(key) ?? undefined
  return CALLS[name](params as Readonly<Record<string, string>>, get)
}

const since = (get: Get) => sinceParam(get('since'), engineNow())
const id = (params: Readonly<Record<string, string>>) => params.id ?? ''

/** Leaves out what has no value, so that it is not among the options. */
const given = <Values extends object>(values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Values

const CALLS: Readonly<Record<RouteName, (params: Readonly<Record<string, string>>, get: Get) => Call | undefined>> = {
  overview: (_, get) => ({ id: 'getWorkflowStats', input: given({ since: since(get) }) }),
  runs: (_, get) => {
    const { partial: _partial, ...input } = listInput(get)
    return { id: 'listRuns', input }
  },
  run: params => ({ id: 'getRun', input: { id: id(params) } }),
  workflows: (_, get) => ({ id: 'listWorkflows', input: given({ app: get('app') }) }),
  workflow: ({ app, name }, get) => ({
    id: 'getWorkflowStats',
    input: given({ app, workflow: name, since: since(get) }),
  }),
  events: (_, get) => ({ id: 'listEvents', input: given({ name: get('name'), app: get('app'), since: since(get) }) }),
  sendEvent: (_, get) => ({
    id: 'sendEvent',
    input: { body: given({ name: get('name') ?? 'name', data: dataOf(get('data')) }) },
  }),
  event: params => ({ id: 'getEvent', input: { id: id(params) } }),
  schedules: () => ({ id: 'listSchedules', input: {} }),
  limits: (_, get) => ({ id: 'listLimits', input: given({ app: get('app'), workflow: get('workflow') }) }),
  runners: (_, get) => ({ id: 'listRunners', input: given({ app: get('app') }) }),
  errors: (_, get) => ({
    id: 'listErrors',
    input: given({ app: get('app'), workflow: get('workflow'), since: since(get) }),
  }),
  errorGroup: ({ fingerprint }) => ({ id: 'listRuns', input: given({ error: fingerprint }) }),
  deliveries: (_, get) => ({
    id: 'listWebhookDeliveries',
    input: given({
      status: get('status') as 'failed' | undefined,
      app: get('app'),
      endpointId: get('endpoint'),
      since: since(get),
    }),
  }),
  delivery: params => ({ id: 'getWebhookDelivery', input: { id: id(params) } }),
  endpoints: () => ({ id: 'listWebhookEndpoints', input: {} }),
  endpoint: () => ({ id: 'listWebhookEndpoints', input: {} }),
  receivers: () => ({ id: 'listWebhookReceivers', input: {} }),
  receiver: () => ({ id: 'listWebhookReceivers', input: {} }),
  audit: (_, get) => ({
    id: 'listControlActions',
    input: given({
      action: get('action') as 'cancel' | undefined,
      runId: get('run'),
      actor: get('actor'),
      since: since(get),
    }),
  }),
  keys: () => ({ id: 'listApiKeys', input: {} }),
  engine: () => ({ id: 'listEngines', input: {} }),
  bulks: () => ({ id: 'listBulks', input: {} }),
  bulk: params => ({ id: 'getBulk', input: { id: id(params) } }),
  bundle: () => undefined,
}

function dataOf(text: string | undefined): RawJson | undefined {
  return text === undefined ? undefined : new RawJson(text)
}

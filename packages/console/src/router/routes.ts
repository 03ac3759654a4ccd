// Every URL of the console, in one typed table: `/console/n/{namespace}` and then the path here. URLs are an interface: logs,
// webhooks and people keep them, so a path or a parameter is never renamed.

/** Parameters of the timeline and the log of a run. */
const TIMELINE = [
  ...(['tab', 'step', 't', 'seq', 'open', 'hide', 'name', 'idle', 'critical'] as const),
  ...(['level', 'scope', 'text', 'wrap'] as const),
] as const

/** By name of the route: the path, the folder of its page below `routes/`, and its query parameters. */
export const ROUTES = {
  overview: { path: '/', page: 'overview', query: ['since', 'until'] },
  runs: {
    path: '/runs',
    page: 'runs',
    query: [
      'q',
      'deep',
      'app',
      'workflow',
      'status',
      'since',
      'until',
      'ended-since',
      'ended-until',
      'type',
      'waiting',
      'error',
      'parent',
      'bulk',
      'key',
      'attribute',
      'sort',
      'dir',
      'cols',
      'rows',
      'live',
    ],
  },
  run: {
    path: '/runs/{id}',
    page: 'run',
    query: [...TIMELINE, 'diff', 'as', 'only', 'order', 'stream'],
  },
  workflows: { path: '/workflows', page: 'workflows', query: ['since', 'until', 'tab', 'q', 'app', 'sort', 'dir'] },
  workflow: { path: '/workflows/{app}/{name}', page: 'workflow', query: ['since', 'until', 'tab'] },
  events: { path: '/events', page: 'events', query: ['name', 'app', 'source', 'since', 'until', 'q'] },
  sendEvent: { path: '/events/send', page: 'send-event', query: ['like', 'wait', 'name', 'app', 'data'] },
  event: { path: '/events/{id}', page: 'event', query: ['tab'] },
  schedules: { path: '/schedules', page: 'schedules', query: ['app', 'workflow', 'key', 'since', 'source', 'state'] },
  limits: { path: '/limits', page: 'limits', query: ['app', 'workflow', 'key', 'since', 'tab'] },
  runners: { path: '/runners', page: 'runners', query: ['app', 'workflow', 'key', 'since'] },
  errors: { path: '/errors', page: 'errors', query: ['app', 'workflow', 'key', 'since', 'until'] },
  errorGroup: { path: '/errors/{fingerprint}', page: 'errors', query: ['app', 'workflow', 'since', 'until'] },
  deliveries: {
    path: '/webhooks/deliveries',
    page: 'webhooks',
    query: ['status', 'kind', 'app', 'endpoint', 'since', 'until'],
  },
  delivery: { path: '/webhooks/deliveries/{id}', page: 'webhooks', query: ['status', 'app', 'endpoint', 'since'] },
  endpoints: { path: '/webhooks/endpoints', page: 'webhooks', query: ['status', 'app', 'since'] },
  endpoint: { path: '/webhooks/endpoints/{id}', page: 'webhooks', query: ['status', 'app', 'since', 'until'] },
  receivers: { path: '/webhooks/receivers', page: 'webhooks', query: ['status', 'app', 'since'] },
  receiver: { path: '/webhooks/receivers/{id}', page: 'webhooks', query: ['status', 'app', 'since'] },
  audit: { path: '/audit', page: 'audit', query: ['action', 'run', 'actor', 'since', 'until', 'target'] },
  keys: { path: '/keys', page: 'keys', query: ['since', 'id'] },
  engine: { path: '/engine', page: 'engine', query: ['since'] },
  bulks: { path: '/bulk', page: 'bulk', query: [] },
  bulk: { path: '/bulk/{id}', page: 'bulk', query: ['outcome', 'of'] },
  bundle: { path: '/bundle', page: 'bundle', query: [...TIMELINE, 'as', 'only', 'order'] },
} as const satisfies Record<string, { path: string; page: string; query: readonly string[] }>

export type RouteName = keyof typeof ROUTES
type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never

/** The values in the path of a route. */
export type Params<Name extends RouteName> = Record<ParamNames<(typeof ROUTES)[Name]['path']>, string>
/** The names of a route's query parameters. */
export type QueryName<Name extends RouteName = RouteName> = (typeof ROUTES)[Name]['query'][number]
/** Query parameters to set; undefined removes one. */
export type Query<Name extends RouteName = RouteName> = { readonly [Key in QueryName<Name>]?: string | undefined }

/** A page's URL, read. Unknown query parameters are kept. */
export interface PageMatch {
  kind: 'page'
  name: RouteName
  namespace: string
  params: Readonly<Record<string, string>>
  query: URLSearchParams
}
/** A URL of the console, read: a page, an id to resolve, the root, or none that exists. */
export type Match = PageMatch | { kind: 'go'; id: string } | { kind: 'root' } | { kind: 'unknown' }

/** Reads a URL. `path` begins after the console's own root: `/n/default/runs`. */
export function parseUrl(path: string, search = ''): Match {
  const segments = path.split('/').filter(segment => segment !== '')
  const [first, second = '', ...rest] = segments
  if (first === undefined) return { kind: 'root' }
  if (first === 'go' && second !== '' && rest.length === 0) return { kind: 'go', id: decode(second) }
  if (first !== 'n' || second === '') return { kind: 'unknown' }
  for (const [name, { path }] of Object.entries(ROUTES)) {
    const params = matchPath(path, rest)
    if (params)
      return {
        kind: 'page',
        name: name as RouteName,
        namespace: decode(second),
        params,
        query: joined(new URLSearchParams(search)),
      }
  }
  return { kind: 'unknown' }
}

/** Parameters that are lists. Links may give them with commas or several times, as the API takes them. */
const LISTS = ['status', 'cols', 'open'] as const satisfies readonly QueryName[]

/** Stands between the values of a parameter that is given several times in a URL, and whose values may contain commas: `attribute`. */
export const VALUE_BREAK = '\n'

function joined(query: URLSearchParams): URLSearchParams {
  for (const name of LISTS) {
    const values = query.getAll(name)
    if (values.length > 1) query.set(name, values.join(','))
  }
  const attributes = query.getAll('attribute')
  if (attributes.length > 1) query.set('attribute', attributes.join(VALUE_BREAK))
  return query
}

/** Builds the URL of a page, relative to the console's own root. */
export function buildUrl<Name extends RouteName>(
  namespace: string,
  name: Name,
  params: Params<Name>,
  query: Query<Name> | URLSearchParams = {},
): string {
  const values: Readonly<Record<string, string>> = params
  const path = ROUTES[name].path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(values[key] ?? ''))
  const text = searchOf(query)
  return `/n/${encodeURIComponent(namespace)}${path}${text === '' ? '' : `?${text}`}`
}

/** The text of a query without its question mark. Characters that are safe in a query stay readable. */
export function searchOf(query: Query | URLSearchParams): string {
  if (query instanceof URLSearchParams) return readable(query)
  const entries = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1])
  return readable(new URLSearchParams(entries))
}

function readable(query: URLSearchParams): string {
  return query
    .toString()
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%2F', '/')
    .replace(/attribute=[^&]+/, values => values.replaceAll('%0A', '&attribute='))
}

function matchPath(pattern: string, segments: readonly string[]): Record<string, string> | undefined {
  const expected = pattern.split('/').filter(part => part !== '')
  if (expected.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (const [i, part] of expected.entries()) {
    const actual = segments[i] as string
    if (part.startsWith('{')) params[part.slice(1, -1)] = decode(actual)
    else if (part !== actual) return undefined
  }
  return params
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

// Every URL of the console, in one typed table: `/console/n/{namespace}`, followed by the path here. URLs are an interface: logs,
// webhooks and people keep them, so a path or a parameter is never renamed. The parameters are in parameters.ts.

import type { PARAMETERS } from './parameters.ts'

/** By name of the route: the path, and the folder of its page below `routes/`. */
export const ROUTES = {
  overview: { path: '/', page: 'overview' },
  runs: { path: '/runs', page: 'runs' },
  run: { path: '/runs/{id}', page: 'run' },
  workflows: { path: '/workflows', page: 'workflows' },
  workflow: { path: '/workflows/{app}/{name}', page: 'workflow' },
  app: { path: '/apps/{app}', page: 'app' },
  events: { path: '/events', page: 'events' },
  sendEvent: { path: '/events/send', page: 'send-event' },
  event: { path: '/events/{id}', page: 'event' },
  schedules: { path: '/schedules', page: 'schedules' },
  limits: { path: '/limits', page: 'limits' },
  runners: { path: '/runners', page: 'runners' },
  errors: { path: '/errors', page: 'errors' },
  errorGroup: { path: '/errors/{fingerprint}', page: 'errors' },
  deliveries: { path: '/webhooks/deliveries', page: 'webhooks' },
  delivery: { path: '/webhooks/deliveries/{id}', page: 'webhooks' },
  endpoints: { path: '/webhooks/endpoints', page: 'webhooks' },
  endpoint: { path: '/webhooks/endpoints/{id}', page: 'webhooks' },
  receivers: { path: '/webhooks/receivers', page: 'webhooks' },
  receiver: { path: '/webhooks/receivers/{id}', page: 'webhooks' },
  audit: { path: '/audit', page: 'audit' },
  keys: { path: '/keys', page: 'keys' },
  engine: { path: '/engine', page: 'engine' },
  bulks: { path: '/bulk', page: 'bulk' },
  bulk: { path: '/bulk/{id}', page: 'bulk' },
  bundle: { path: '/bundle', page: 'bundle' },
} as const satisfies Record<string, { path: string; page: string }>

export type RouteName = keyof typeof ROUTES
type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never

/** The values in the path of a route. */
export type Params<Name extends RouteName> = Record<ParamNames<(typeof ROUTES)[Name]['path']>, string>
/** The routes whose paths have no values. */
export type ListRoute = { [Name in RouteName]: keyof Params<Name> extends never ? Name : never }[RouteName]
/** The names of a route's query parameters. */
export type QueryName<Name extends RouteName = RouteName> = (typeof PARAMETERS)[Name][number]
/** Query parameters to set; undefined removes one. */
export type Query<Name extends RouteName = RouteName> = { readonly [Key in QueryName<Name>]?: string | undefined }

/** The parsed URL of a page. Unknown query parameters are kept. */
export interface PageMatch {
  kind: 'page'
  name: RouteName
  namespace: string
  params: Readonly<Record<string, string>>
  query: URLSearchParams
}
/** A parsed URL of the console: a page, an id to resolve, the root, or one that does not exist. */
export type Match = PageMatch | { kind: 'go'; id: string } | { kind: 'root' } | { kind: 'unknown' }

/** Parses a URL. `path` begins after the console's own root: `/n/default/runs`. */
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

/** Parameters that are lists. Links may give them with commas or several times, as the API accepts them. */
const LISTS = ['status', 'cols', 'open'] as const satisfies readonly QueryName[]

/** Separates the values of a parameter that is given several times in a URL, and whose values may contain commas: `attribute`. */
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

/** Returns the text of a query without its question mark. Characters that are safe in a query stay readable. */
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

/** Decodes text of a URL; unchanged if its encoding is invalid. */
export function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

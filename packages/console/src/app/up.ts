// The page above a page: the list of a record, in its last state; and the section of a page.

import { buildUrl, type ListRoute, type PageMatch, ROUTES, type RouteName } from '../router/routes.ts'

const ABOVE: Partial<Record<RouteName, ListRoute>> = {
  run: 'runs',
  bulks: 'runs',
  bundle: 'runs',
  bulk: 'bulks',
  workflow: 'workflows',
  app: 'workflows',
  event: 'events',
  sendEvent: 'events',
  errorGroup: 'errors',
  delivery: 'deliveries',
  endpoint: 'endpoints',
  receiver: 'receivers',
}

/** The query of each list when it was last left. */
const left = new Map<string, URLSearchParams>()

/** Remembers the filters of a list. */
export function leave({ name, namespace, query }: PageMatch): void {
  left.set(`${namespace}\n${name}`, query)
}

/** Returns the URL above the page; undefined for a page with nothing above it. */
export function urlAbove({ name, namespace }: PageMatch): string | undefined {
  const above = ABOVE[name]
  return above && buildUrl(namespace, above, {}, left.get(`${namespace}\n${above}`))
}

/** Whether a page is in the section of a list: it is that list, another list of the same page, or below one. */
export function isInSection(name: RouteName, section: RouteName): boolean {
  const above = ABOVE[name]
  return above === undefined ? ROUTES[name].page === ROUTES[section].page : isInSection(above, section)
}

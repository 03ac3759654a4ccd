// The router for components: the current page, links, and changes of the query.

import { type AnchorHTMLAttributes, type MouseEvent, useCallback, useSyncExternalStore } from 'react'
import { CONSOLE_ROOT } from './base.ts'
import { currentLocation, navigate, onLocation } from './history.ts'
import { buildUrl, type PageMatch, type Params, type Query, type QueryName, type RouteName } from './routes.ts'

export function useLocation() {
  return useSyncExternalStore(onLocation, currentLocation)
}

/** Returns the page that the URL names. Only for components inside a page. */
export function usePage(): PageMatch {
  const { match } = useLocation()
  if (match.kind !== 'page') throw new Error('a page is rendered without its URL')
  return match
}

/** Returns the namespace of the URL. */
export function useNamespace(): string {
  const { match } = useLocation()
  return match.kind === 'page' ? match.namespace : 'default'
}

/** The destination of a link. */
export type Target<Name extends RouteName = RouteName> = {
  [N in Name]: {
    to: N
    query?: Query<N> | URLSearchParams | undefined
    /** The namespace, if it is not the one in the URL. */
    namespace?: string | undefined
  } & (keyof Params<N> extends never ? { params?: Params<N> } : { params: Params<N> })
}[Name]

/** Returns a function that builds the URL of a target, relative to the console's root. */
export function useUrl(): (target: Target) => string {
  const own = useNamespace()
  return useCallback(
    ({ to, params, query, namespace = own }: Target) =>
      buildUrl(namespace, to, (params ?? {}) as Params<typeof to>, query as Query<typeof to>),
    [own],
  )
}

/** Returns a function that goes to a target. */
export function useNavigate(): (target: Target, options?: { replace?: boolean }) => void {
  const urlOf = useUrl()
  return useCallback((target, options) => navigate(urlOf(target), options), [urlOf])
}

export type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'target'> & { target: Target }

/** A link inside the console. Modified clicks open tabs, as on every link. */
export function Link({ target, onClick, ...rest }: LinkProps) {
  const url = useUrl()(target)
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (event.defaultPrevented || !isPlain) return
    event.preventDefault()
    navigate(url)
  }
  return <a {...rest} href={CONSOLE_ROOT + url} onClick={follow} />
}

/** Returns the value of a query parameter of the page, and a function that sets several at once; undefined removes one. */
export function useQuery<Name extends RouteName>(
  _route: Name,
): [(name: QueryName<Name>) => string | undefined, (changes: Query<Name>, options?: { push?: boolean }) => void] {
  const { query, namespace, name, params } = usePage()
  const get = useCallback((key: QueryName<Name>) => query.get(key) ?? undefined, [query])
  const set = useCallback(
    (changes: Query<Name>, { push = false }: { push?: boolean } = {}) => {
      const next = new URLSearchParams(query)
      for (const [key, value] of Object.entries(changes)) {
        if (typeof value === 'string' && value !== '') next.set(key, value)
        else next.delete(key)
      }
      navigate(buildUrl(namespace, name, params as Params<typeof name>, next), { replace: !push })
    },
    [query, namespace, name, params],
  )
  return [get, set]
}

// The pages, by folder of `routes/`: a folder with a `page.tsx` is a page, loaded when its route is opened. The list of runs
// comes with the first script.

import { type ComponentType, lazy } from 'react'
import { ROUTES, type RouteName } from '../router/routes.ts'
import RunsPage from '../routes/runs/page.tsx'

type PageModule = { default: ComponentType }

const loaders = import.meta.glob<PageModule>(['../routes/*/page.tsx', '!../routes/runs/page.tsx'])

const pages = new Map<string, ComponentType>([
  ['runs', RunsPage],
  ...Object.entries(loaders).map(
    ([path, load]) => [path.split('/').at(-2) as string, lazy(load)] satisfies [string, ComponentType],
  ),
])

/** The page of a route. */
export function pageOf(name: RouteName): ComponentType | undefined {
  return pages.get(ROUTES[name].page)
}

/** Loads the code of a route before it is opened. */
export function preload(name: RouteName): void {
  void loaders[`../routes/${ROUTES[name].page}/page.tsx`]?.()
}

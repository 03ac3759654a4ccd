// The pages, by folder of `routes/`: a folder with a `page.tsx` is a page, loaded when its route is opened. The list of runs is
// part of the first script.

import { type ComponentType, createElement, useEffect, useState } from 'react'
import { ROUTES, type RouteName } from '../router/routes.ts'
import RunsPage from '../routes/runs/page.tsx'
import { Waiting } from '../ui/states/loaded.tsx'

type PageModule = { default: ComponentType }

const loaders = import.meta.glob<PageModule>(['../routes/*/page.tsx', '!../routes/runs/page.tsx'])

/** A page whose code may not be loaded yet. */
interface LoadedPage {
  View: ComponentType
  load(): Promise<unknown>
}

const pages = new Map<string, LoadedPage>([
  ['runs', { View: RunsPage, load: async () => {} }],
  ...Object.entries(loaders).map(([path, load]) => [path.split('/').at(-2) as string, pageFrom(load)] as const),
])

/**
 * A page that is shown as soon as its code has arrived. `lazy` and `Suspense` would delay it: React shows the replacement of a
 * fallback no sooner than 300 ms after the fallback.
 */
function pageFrom(load: () => Promise<PageModule>): LoadedPage {
  let Found: ComponentType | undefined
  const loadOnce = async () => {
    Found ??= (await load()).default
    return Found
  }
  function View() {
    const [, setLoaded] = useState(Found !== undefined)
    const [fault, setFault] = useState<Error>()
    useEffect(() => {
      if (!Found) loadOnce().then(() => setLoaded(true), setFault)
    }, [])
    if (fault) throw fault
    return Found ? createElement(Found) : createElement(Waiting)
  }
  return { View, load: loadOnce }
}

/** Returns the page of a route. */
export const pageOf = (name: RouteName): ComponentType => ofRoute(name).View

/** Loads the code of a route before it is opened. */
export function preload(name: RouteName): void {
  // A failure shows when the page is opened.
  ofRoute(name)
    .load()
    .catch(() => {})
}

const ofRoute = (name: RouteName) => pages.get(ROUTES[name].page) as LoadedPage

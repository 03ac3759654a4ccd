// The app: finds the namespace of the URL, opens it, and shows the page of the route.

import { QueryClientProvider } from '@tanstack/react-query'
import { Suspense, useEffect } from 'react'
import { queryClient } from '../data/queries.ts'
import { useUtc } from '../data/time/zone.ts'
import { navigate } from '../router/history.ts'
import { useLocation } from '../router/router.tsx'
import { buildUrl } from '../router/routes.ts'
import { useSession } from '../session/session.ts'
import { Waiting } from '../ui/states/loaded.tsx'
import { Boundary } from '../ui/states/page.tsx'
import { openOnce } from './open.ts'
import { pageOf, preload } from './pages.ts'
import { Elsewhere } from './parts.tsx'
import { Shell } from './shell.tsx'

export function App() {
  const { match } = useLocation()
  const namespace = match.kind === 'page' ? match.namespace : undefined
  useEffect(() => openOnce(namespace), [namespace])
  // When the zone changes, render every text of a time again.
  useUtc()
  return (
    <QueryClientProvider client={queryClient}>
      <Shell>
        <Boundary key={match.kind === 'page' ? `${match.namespace} ${match.name}` : match.kind} isWholePage>
          <CurrentPage />
        </Boundary>
      </Shell>
    </QueryClientProvider>
  )
}

function CurrentPage() {
  const { match } = useLocation()
  const { whoami } = useSession()
  const isKnown = whoami !== undefined
  const name = match.kind === 'page' ? match.name : undefined
  useEffect(() => {
    // Load the page's code while the engine answers who the caller is.
    if (name !== undefined) preload(name)
  }, [name])
  if (match.kind === 'root') return <ToOverview />
  const Found = match.kind === 'page' ? pageOf(match.name) : undefined
  if (!Found)
    return (
      <Suspense fallback={<Waiting />}>
        <Elsewhere />
      </Suspense>
    )
  // Before the first answer a page could show nothing.
  return isKnown ? <Found key={match.kind === 'page' ? Object.values(match.params).join('/') : ''} /> : <Waiting />
}

/** Continues from the root to the namespace of the session. */
function ToOverview() {
  const namespace = useSession().whoami?.namespace
  useEffect(() => {
    if (namespace !== undefined) navigate(buildUrl(namespace, 'overview', {}), { replace: true })
  }, [namespace])
  return <Waiting />
}

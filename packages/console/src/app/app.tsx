// The app: finds the namespace of the URL, opens it, and shows the page of the route.

import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect } from 'react'
import { queryClient } from '../data/queries.ts'
import { navigate } from '../router/history.ts'
import { Link, useLocation, useUrl } from '../router/router.tsx'
import { buildUrl } from '../router/routes.ts'
import { useSession } from '../session/session.ts'
import { Empty } from '../ui/states/empty.tsx'
import { Waiting } from '../ui/states/loaded.tsx'
import { Boundary, Page } from '../ui/states/page.tsx'
import { targetOfId } from './go.ts'
import { openOnce } from './open.ts'
import { pageOf, preload } from './pages.ts'
import { Shell } from './shell.tsx'

export function App() {
  const { match } = useLocation()
  const namespace = match.kind === 'page' ? match.namespace : undefined
  useEffect(() => openOnce(namespace), [namespace])
  return (
    <QueryClientProvider client={queryClient}>
      <Shell>
        <Boundary key={match.kind === 'page' ? `${match.namespace} ${match.name}` : match.kind}>
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
    // The code of the page is loaded while the engine says who the caller is.
    if (name !== undefined) preload(name)
  }, [name])
  if (match.kind === 'root' || match.kind === 'go') return <Redirect />
  const Found = match.kind === 'page' ? pageOf(match.name) : undefined
  if (!Found) return <NotFound />
  // Before the first answer there is nothing that a page could show.
  return isKnown ? <Found key={match.kind === 'page' ? Object.values(match.params).join('/') : ''} /> : <Waiting />
}

/** Goes on from the root to the namespace of the session, and from an id to its page. */
function Redirect() {
  const { match } = useLocation()
  const { whoami } = useSession()
  const urlOf = useUrl()
  const namespace = whoami?.namespace
  const target = match.kind === 'go' ? targetOfId(match.id) : undefined
  useEffect(() => {
    if (namespace === undefined) return
    if (target) navigate(urlOf({ ...target, namespace }), { replace: true })
    else if (match.kind === 'root')
      navigate(buildUrl(namespace, pageOf('overview') ? 'overview' : 'runs', {}), { replace: true })
  }, [namespace, match, target, urlOf])
  return match.kind === 'go' && !target ? <NotFound /> : <Waiting />
}

function NotFound() {
  return (
    <Page title="No such page">
      <Empty title="This URL names no page of the console">
        <Link target={{ to: 'runs' }}>Go to the runs</Link>
      </Empty>
    </Page>
  )
}

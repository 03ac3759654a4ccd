// URLs that name no page: `/console/go/{id}` continues to the page of the id, and any other URL shows that it names none.

import { useEffect } from 'react'
import { navigate } from '../router/history.ts'
import { Link, useLocation, useUrl } from '../router/router.tsx'
import { useSession } from '../session/session.ts'
import { Empty } from '../ui/states/empty.tsx'
import { Waiting } from '../ui/states/loaded.tsx'
import { Page } from '../ui/states/page.tsx'
import { targetOfId } from './go.ts'

export default function Elsewhere() {
  const { match } = useLocation()
  const { whoami } = useSession()
  const urlOf = useUrl()
  const namespace = whoami?.namespace
  const target = match.kind === 'go' ? targetOfId(match.id) : undefined
  useEffect(() => {
    if (target && namespace !== undefined) navigate(urlOf({ ...target, namespace }), { replace: true })
  }, [namespace, target, urlOf])
  if (target) return <Waiting />
  return (
    <Page title="Page not found">
      <Empty title="There is no page at this URL">
        <Link target={{ to: 'runs' }}>Go to runs</Link>
      </Empty>
    </Page>
  )
}

// Goes on from `/console/go/{id}` to the page of the id. Loaded when such a URL is opened.

import { useEffect } from 'react'
import { navigate } from '../router/history.ts'
import { useUrl } from '../router/router.tsx'
import { useSession } from '../session/session.ts'
import { Waiting } from '../ui/states/loaded.tsx'
import { targetOfId } from './go.ts'
import { NotFound } from './not-found.tsx'

export default function GoTo({ id }: { id: string }) {
  const namespace = useSession().whoami?.namespace
  const urlOf = useUrl()
  const target = targetOfId(id)
  const url = target && namespace !== undefined ? urlOf({ ...target, namespace }) : undefined
  useEffect(() => {
    if (url !== undefined) navigate(url, { replace: true })
  }, [url])
  return target ? <Waiting /> : <NotFound />
}

// A URL that names no page.

import { Link } from '../router/router.tsx'
import { Empty } from '../ui/states/empty.tsx'
import { Page } from '../ui/states/page.tsx'

export function NotFound() {
  return (
    <Page title="No such page">
      <Empty title="This URL names no page of the console">
        <Link target={{ to: 'runs' }}>Go to the runs</Link>
      </Empty>
    </Page>
  )
}

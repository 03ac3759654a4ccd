// The buttons that change how the list looks, and open the saved views.

import { lazy, Suspense, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import type { Look } from './look.ts'

const LookDialog = lazy(() => import('./look-dialog.tsx'))
const ViewsDialog = lazy(() => import('./views/views-dialog.tsx'))

export function ViewMenu({ look }: { look: Look }) {
  const [open, setOpen] = useState<'look' | 'views'>()
  const close = () => setOpen(undefined)
  return (
    <>
      <Button onClick={() => setOpen('views')}>Views</Button>
      <Button onClick={() => setOpen('look')}>Columns</Button>
      <Suspense>
        {open === 'look' && <LookDialog look={look} onClose={close} />}
        {open === 'views' && <ViewsDialog onClose={close} />}
      </Suspense>
    </>
  )
}

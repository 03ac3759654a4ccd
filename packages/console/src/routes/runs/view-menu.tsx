// The buttons that change how the list looks, save it as a file, and open the saved views.

import { lazy, Suspense, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import type { Look } from './look.ts'
import type { ListInput } from './query.ts'

const ExportDialog = lazy(() => import('./export/export-dialog.tsx'))
const LookDialog = lazy(() => import('./look-dialog.tsx'))
const ViewsDialog = lazy(() => import('./views/views-dialog.tsx'))

export function ViewMenu({ look, input }: { look: Look; input: ListInput }) {
  const [open, setOpen] = useState<'look' | 'views' | 'export'>()
  const close = () => setOpen(undefined)
  return (
    <>
      <Button onClick={() => setOpen('export')}>Export</Button>
      <Button onClick={() => setOpen('views')}>Views</Button>
      <Button onClick={() => setOpen('look')}>Columns</Button>
      <Suspense>
        {open === 'export' && <ExportDialog input={input} onClose={close} />}
        {open === 'look' && <LookDialog look={look} onClose={close} />}
        {open === 'views' && <ViewsDialog onClose={close} />}
      </Suspense>
    </>
  )
}

// The buttons that change the look of the list, save it as a file, open the saved views, and link to related pages.

import { lazy, Suspense, useState } from 'react'
import { useNavigate } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import type { Look } from './look.ts'
import type { ListInput } from './query.ts'

const ExportDialog = lazy(() => import('./export/export-dialog.tsx'))
const LookDialog = lazy(() => import('./look-dialog.tsx'))
const ViewsDialog = lazy(() => import('./views/views-dialog.tsx'))

export function ViewMenu({ look, input }: { look: Look; input: ListInput }) {
  const [open, setOpen] = useState<'look' | 'views' | 'export'>()
  const go = useNavigate()
  const close = () => setOpen(undefined)
  return (
    <>
      <Button onClick={() => setOpen('export')}>Export</Button>
      <Button onClick={() => setOpen('views')}>Views</Button>
      <Button onClick={() => setOpen('look')}>Columns</Button>
      <Menu
        label="⋯"
        name="More about runs"
        items={[
          { label: 'Bulk jobs', onSelect: () => go({ to: 'bulks' }) },
          { label: 'Open a bundle…', onSelect: () => go({ to: 'bundle' }) },
        ]}
      />
      <Suspense>
        {open === 'export' && <ExportDialog input={input} onClose={close} />}
        {open === 'look' && <LookDialog look={look} onClose={close} />}
        {open === 'views' && <ViewsDialog onClose={close} />}
      </Suspense>
    </>
  )
}

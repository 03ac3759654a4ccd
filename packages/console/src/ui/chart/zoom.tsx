// The actions above a chart that zooms.

import { Link } from '../../router/router.tsx'
import type { Query } from '../../router/routes.ts'
import { Button } from '../button.tsx'

export interface ZoomActionsProps {
  /** The window shows a part of the past. */
  isZoomed: boolean
  onZoomOut(): void
  /** The filters of the runs of the chart. */
  runs: Query<'runs'>
}

export function ZoomActions({ isZoomed, onZoomOut, runs }: ZoomActionsProps) {
  return (
    <span>
      {isZoomed && (
        <Button kind="bare" title="Zoom out (- on the chart)" onClick={onZoomOut}>
          Zoom out
        </Button>
      )}{' '}
      <Link target={{ to: 'runs', query: runs }}>Runs in this window</Link>
    </span>
  )
}

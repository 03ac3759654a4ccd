// The action of `Y`. Loaded when it is used.

import { engineNow } from '../../data/time/clock.ts'
import { CONSOLE_ROOT } from '../../router/base.ts'
import { currentLocation, navigate } from '../../router/history.ts'
import { copyText } from '../../ui/overlay/copy.tsx'
import { pinnedUrl } from './copy-link.ts'

/** Replaces a moving window in the address by fixed times, and copies the address. */
export function copyPinned(): void {
  const url = pinnedUrl(location.href, currentLocation().match, engineNow())
  navigate(url.slice(location.origin.length + CONSOLE_ROOT.length), { replace: true })
  void copyText(url, 'Permalink copied')
}

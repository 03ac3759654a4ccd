// The commands of the palette: the actions that every page offers.

import { toggleZone, useUtc } from '../data/time/zone.ts'
import { setPaused } from '../live/link.ts'
import { useLive } from '../live/use-live.ts'
import { useNavigate } from '../router/router.tsx'
import { canWrite, lock, signOut, useSession } from '../session/session.ts'
import { toast } from '../ui/overlay/toasts.tsx'
import { nextTheme } from './theme.ts'

interface Command {
  label: string
  /** The key for the same action. */
  keys?: string
  run(): void
}

export interface Opens {
  onHelp(): void
  onUnlock(): void
}

export function useCommands({ onHelp, onUnlock }: Opens): Command[] {
  const session = useSession()
  const { isPaused } = useLive()
  const navigate = useNavigate()
  const hasKey = session.whoami !== undefined && !session.whoami.open
  const access =
    session.unlockedUntil !== undefined
      ? [{ label: 'Lock actions', run: lock }]
      : hasKey && !canWrite(session)
        ? [{ label: 'Unlock actions…', run: onUnlock }]
        : []
  return [
    { label: 'Send an event…', run: () => navigate({ to: 'sendEvent' }) },
    { label: 'Bulk jobs', run: () => navigate({ to: 'bulks' }) },
    { label: 'Open a bundle…', run: () => navigate({ to: 'bundle' }) },
    { label: isPaused ? 'Resume live updates' : 'Pause live updates', keys: 'l', run: () => setPaused(!isPaused) },
    ...access,
    { label: `Times: ${useUtc() ? 'show local time' : 'show UTC'}`, run: () => toast(`Times: ${toggleZone()}`) },
    { label: 'Theme', keys: 't', run: () => toast(`Theme: ${nextTheme()}`) },
    { label: 'Keyboard shortcuts, help', keys: '?', run: onHelp },
    ...(hasKey ? [{ label: 'Sign out', run: () => void signOut() }] : []),
  ]
}

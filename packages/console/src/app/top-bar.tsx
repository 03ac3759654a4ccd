// The bar on top: the namespace, the kind of access, search, and the session's menu.

import { engineNow, useNow } from '../data/time/clock.ts'
import { Link, useNamespace } from '../router/router.tsx'
import { canWrite, lock, signOut, useSession } from '../session/session.ts'
import { Button } from '../ui/button.tsx'
import { Menu } from '../ui/overlay/menu.tsx'
import { toast } from '../ui/overlay/toasts.tsx'
import { LivePill } from './live-pill.tsx'
import styles from './shell.module.css'
import { nextTheme } from './theme.ts'

export interface TopBarProps {
  onSearch(): void
  onUnlock(): void
  onHelp(): void
  onRail(): void
  isRailOpen: boolean
}

export function TopBar({ onSearch, onUnlock, onHelp, onRail, isRailOpen }: TopBarProps) {
  const session = useSession()
  const namespace = useNamespace()
  const { whoami } = session
  const isOpen = whoami?.open ?? false
  const changeTheme = () => toast(`Theme: ${nextTheme()}`)
  return (
    <header className={styles.top}>
      <Button
        kind="bare"
        className={styles.burger}
        aria-label="Sections"
        aria-expanded={isRailOpen}
        aria-controls="rail"
        onClick={onRail}
      >
        ☰
      </Button>
      <Link target={{ to: 'runs' }} className={styles.brand}>
        Perdure
      </Link>
      <div className={styles.where}>
        <b>{namespace}</b>
        {whoami && <span>{isOpen ? 'open, this machine only' : (whoami.label ?? `${whoami.kind} key`)}</span>}
      </div>
      <button type="button" className={styles.search} onClick={onSearch}>
        Search <kbd>⌘K</kbd>
      </button>
      <div className={styles.tools}>
        <LivePill />
        {whoami && !isOpen && <Access onUnlock={onUnlock} />}
        <Menu
          label="⋯"
          name="Session and help"
          kind="bare"
          items={[
            { label: 'Theme', keys: 't', onSelect: changeTheme },
            { label: 'Keyboard', keys: '?', onSelect: onHelp },
            ...(whoami && !isOpen ? [{ label: 'Sign out', onSelect: () => void signOut() }] : []),
          ]}
        />
      </div>
    </header>
  )
}

/** Whether actions are locked, and the way to change that. */
function Access({ onUnlock }: { onUnlock(): void }) {
  const session = useSession()
  if (session.unlockedUntil !== undefined) return <Unlocked until={session.unlockedUntil} />
  if (canWrite(session)) return null
  return (
    <Button title="Actions need a secret key" onClick={onUnlock}>
      Unlock
    </Button>
  )
}

function Unlocked({ until }: { until: number }) {
  const leftS = Math.max(0, Math.round((until - (useNow() - (engineNow() - Date.now()))) / 1000))
  const left = `${Math.floor(leftS / 60)}:${String(leftS % 60).padStart(2, '0')}`
  return (
    <Button title="Actions are unlocked: lock them" onClick={lock}>
      Lock · {left}
    </Button>
  )
}

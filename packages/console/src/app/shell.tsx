// The shell around every page: skip link, top bar, rail, main. It keeps a page whose session has ended on the screen, frozen,
// below the sign-in form.

import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useKeys } from '../keys/keys.ts'
import { rememberedScroll } from '../router/history.ts'
import { useLocation } from '../router/router.tsx'
import { retryNow, unlock, useSession } from '../session/session.ts'
import { Button } from '../ui/button.tsx'
import { copyText } from '../ui/overlay/copy.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { Toasts, toast } from '../ui/overlay/toasts.tsx'
import { Help } from './help.tsx'
import { KeyForm } from './key-form.tsx'
import { Palette } from './palette.tsx'
import { Rail } from './rail.tsx'
import styles from './shell.module.css'
import { SignIn } from './sign-in.tsx'
import { nextTheme } from './theme.ts'
import { TopBar } from './top-bar.tsx'

type Overlay = 'search' | 'unlock' | 'help'

export function Shell({ children }: { children: ReactNode }) {
  const [overlay, setOverlay] = useState<Overlay>()
  const [isRailOpen, setRailOpen] = useState(false)
  const close = () => setOverlay(undefined)
  const { status } = useSession()
  const isSignedOut = status === 'signed-out'
  const main = useScroll()
  useKeys('Everywhere', [
    { keys: 'mod+k', label: 'Search', inInputs: true, run: () => setOverlay('search') },
    { keys: '/', label: 'Search', run: () => setOverlay('search') },
    { keys: '?', label: 'Keyboard', run: () => setOverlay('help') },
    { keys: 't', label: 'Theme', run: () => toast(`Theme: ${nextTheme()}`) },
    { keys: 'y', label: 'Copy the link of this page', run: () => void copyText(location.href, 'Link copied') },
  ])
  return (
    <div className={styles.shell}>
      <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <TopBar
        onSearch={() => setOverlay('search')}
        onUnlock={() => setOverlay('unlock')}
        onHelp={() => setOverlay('help')}
        onRail={() => setRailOpen(!isRailOpen)}
        isRailOpen={isRailOpen}
      />
      <Rail isOpen={isRailOpen} onChoose={() => setRailOpen(false)} />
      <main id="main" ref={main} className={styles.main} tabIndex={-1} data-scroller="">
        <Notices />
        {isSignedOut && <SignIn />}
        <div inert={isSignedOut} className={isSignedOut ? styles.frozen : undefined} data-page="">
          {children}
        </div>
      </main>
      {overlay === 'search' && <Palette onClose={close} onHelp={() => setOverlay('help')} />}
      {overlay === 'help' && <Help onClose={close} />}
      {overlay === 'unlock' && <UnlockDialog onClose={close} />}
      <Toasts />
    </div>
  )
}

/** Starts every page on top, and restores the scroll position on the way back. */
function useScroll() {
  const main = useRef<HTMLElement>(null)
  const location = useLocation()
  useLayoutEffect(() => {
    if (location.cause === 'push') main.current?.scrollTo(0, 0)
  }, [location])
  useEffect(() => {
    if (location.cause !== 'back') return
    const top = rememberedScroll()
    // The rows of the page may still be on their way from the cache to the document.
    const frame = requestAnimationFrame(() => main.current?.scrollTo(0, top))
    return () => cancelAnimationFrame(frame)
  }, [location])
  return main
}

/** One line for the whole app: the engine does not answer, or the namespace is suspended. */
function Notices() {
  const { status, notice, whoami } = useSession()
  if (status === 'unreachable') {
    return (
      <div className={styles.notice} role="alert">
        <span>The engine does not answer: {notice}. What is shown may be old.</span>
        <Button onClick={retryNow}>Try now</Button>
      </div>
    )
  }
  if (whoami?.suspended) {
    return (
      <div className={styles.notice} role="status">
        The namespace is suspended: no new run starts in it.
      </div>
    )
  }
  return null
}

function UnlockDialog({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Unlock actions" onClose={onClose}>
      <KeyForm label="A secret key of this namespace" action="Unlock" onKey={key => unlock(key).then(onClose)} />
      <p>Actions stay unlocked for 15 minutes in this tab. The key is not kept.</p>
    </Dialog>
  )
}

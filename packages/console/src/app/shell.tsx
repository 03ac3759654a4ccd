// The shell around every page: skip link, top bar, rail, main. When a session ends, it keeps the page on the screen, frozen,
// below the sign-in form.

import { type ReactNode, Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { keepTyped, takeTyped, useKeys } from '../keys/keys.ts'
import { keep, navigateUp, rememberedScroll } from '../router/history.ts'
import { useLocation } from '../router/router.tsx'
import { retryNow, useSession } from '../session/session.ts'
import { Button } from '../ui/button.tsx'
import { copyText } from '../ui/overlay/copy.tsx'
import { Polite } from '../ui/overlay/polite.tsx'
import { Toasts, toast } from '../ui/overlay/toasts.tsx'
import { Boundary } from '../ui/states/page.tsx'
import { OVERLAYS, SignIn } from './parts.tsx'
import { Rail } from './rail.tsx'
import styles from './shell.module.css'
import { nextTheme } from './theme.ts'
import { TopBar } from './top-bar.tsx'
import { leave, urlAbove } from './up.ts'

/** The scroll position is stored after the page has rested this long: browsers limit how often it may be stored. */
const SCROLL_REST_MS = 200

export function Shell({ children }: { children: ReactNode }) {
  const [overlay, setOverlay] = useState<keyof typeof OVERLAYS>()
  const [isRailOpen, setRailOpen] = useState(false)
  const Shown = overlay && OVERLAYS[overlay]
  const close = () => {
    takeTyped()
    setOverlay(undefined)
  }
  const search = () => {
    keepTyped()
    setOverlay('search')
  }
  const closeNotice = () => {
    // Its buttons disappear with it.
    if (document.activeElement?.closest('[role=alert]')) main.current?.focus()
    close()
  }
  const { status } = useSession()
  const isSignedOut = status === 'signed-out'
  const main = useScroll()
  const { match } = useLocation()
  const id = match.kind === 'page' ? match.params.id : undefined
  useEffect(() => {
    if (match.kind === 'page') leave(match)
  }, [match])
  const above = match.kind === 'page' ? urlAbove(match) : undefined
  const shortcuts = [
    { keys: 'mod+k', label: 'Search', inInputs: true, run: search },
    { keys: '/', label: 'Search', run: search },
    { keys: '?', label: 'Keyboard', run: () => setOverlay('help') },
    { keys: 't', label: 'Theme', run: () => toast(`Theme: ${nextTheme()}`) },
    { keys: 'y', label: 'Copy link', run: () => void copyText(location.href, 'Link copied') },
    { keys: 'Y', label: 'Copy permalink', run: copyPinned },
    ...(id === undefined ? [] : [{ keys: 'c', label: 'Copy ID', run: () => void copyText(id, 'ID copied') }]),
    ...(above === undefined ? [] : [{ keys: 'Escape', label: 'Up to the list', run: () => navigateUp(above) }]),
  ]
  useKeys('Everywhere', shortcuts, { isLast: true })
  return (
    <div className={styles.shell}>
      <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <TopBar
        onSearch={search}
        onPinned={copyPinned}
        onNamespace={() => setOverlay('namespace')}
        onUnlock={() => setOverlay('unlock')}
        onHelp={() => setOverlay('help')}
        onRail={() => setRailOpen(!isRailOpen)}
        isRailOpen={isRailOpen}
      />
      <Rail isOpen={isRailOpen} onChoose={() => setRailOpen(false)} />
      <main id="main" ref={main} className={styles.main} tabIndex={-1} data-scroller="">
        <Notices />
        <Boundary key={overlay} onClose={closeNotice}>
          <Suspense>
            {Shown && <Shown onClose={close} onHelp={() => setOverlay('help')} onUnlock={() => setOverlay('unlock')} />}
          </Suspense>
        </Boundary>
        {isSignedOut && (
          <Boundary>
            <Suspense>
              <SignIn />
            </Suspense>
          </Boundary>
        )}
        <div inert={isSignedOut} className={isSignedOut ? styles.frozen : undefined} data-page="">
          {children}
        </div>
      </main>
      <Toasts />
    </div>
  )
}

const copyPinned = () => void import('./copy/copy-pinned.ts').then(part => part.copyPinned())

/** Starts every page at the top, and restores the scroll position on the way back. */
function useScroll() {
  const main = useRef<HTMLElement>(null)
  const isScrolled = useRef(false)
  const location = useLocation()
  useLayoutEffect(() => {
    // Scrolling forces the browser to compute the layout immediately.
    if (location.cause === 'push' && isScrolled.current) main.current?.scrollTo(0, 0)
  }, [location])
  useEffect(() => {
    if (location.cause !== 'back') return
    const top = rememberedScroll()
    // The rows of the page may not have moved from the cache to the document yet.
    const frame = requestAnimationFrame(() => main.current?.scrollTo(0, top))
    return () => cancelAnimationFrame(frame)
  }, [location])
  useEffect(() => {
    const scroller = main.current
    let timer: ReturnType<typeof setTimeout>
    const onScroll = () => {
      isScrolled.current = true
      clearTimeout(timer)
      timer = setTimeout(() => keep('scroll', scroller?.scrollTop), SCROLL_REST_MS)
    }
    scroller?.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      clearTimeout(timer)
      scroller?.removeEventListener('scroll', onScroll)
    }
  }, [])
  return main
}

/** Shows one line for the whole app: the engine does not answer, or the namespace is suspended. */
function Notices() {
  const { status, notice, whoami } = useSession()
  if (status === 'unreachable') {
    return (
      <div className={styles.notice} role="alert">
        <span>The engine is not responding: {notice}. Data may be out of date.</span>
        <Button onClick={retryNow}>Retry now</Button>
      </div>
    )
  }
  if (whoami?.suspended) {
    return (
      <div className={styles.notice}>
        <Polite text="The namespace is suspended: no new runs start." />
      </div>
    )
  }
  return null
}

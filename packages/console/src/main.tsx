// The entry of the console: redeems a code of the URL, opens the namespace, then renders the app.

import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { openOnce } from './app/open.ts'
import './app/tokens.css'
import './app/base.css'
import { applyTheme } from './app/theme.ts'
import { listenToKeys } from './keys/keys.ts'
import { CONSOLE_ROOT } from './router/base.ts'
import { currentLocation, navigate } from './router/history.ts'
import { buildUrl } from './router/routes.ts'
import { signIn } from './session/session.ts'
import { toast } from './ui/overlay/toasts.tsx'

/** Signs in with the code that `perdure console` put into the fragment, and removes it from the address immediately. */
async function redeemCode(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return
  history.replaceState(null, '', location.pathname + location.search)
  try {
    const namespace = await signIn({ code })
    if (!location.pathname.startsWith(`${CONSOLE_ROOT}/n/`))
      navigate(buildUrl(namespace, 'runs', {}), { replace: true })
  } catch (error) {
    toast(`The link cannot sign you in: ${(error as Error).message}`, { isError: true })
  }
}

applyTheme()
listenToKeys()
const keepFocus = () =>
  void import('./app/lost-focus.ts').then(
    part => part.keepFocus(),
    () => {},
  )
addEventListener('keydown', keepFocus, { once: true })
// Not awaited at the top level: pages that are loaded later import from this file's chunk.
void redeemCode().then(() => {
  const { match } = currentLocation()
  openOnce(match.kind === 'page' ? match.namespace : undefined)
  createRoot(document.querySelector('#root') as HTMLElement).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
})

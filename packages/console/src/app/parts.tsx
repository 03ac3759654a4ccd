// Parts of the shell that most visits never open, each in its own chunk.

import { type ComponentType, lazy } from 'react'

export const Elsewhere = lazy(() => import('./elsewhere.tsx'))
export const SignIn = lazy(() => import('./sign-in/sign-in.tsx'))

/** Parts of the top bar of an engine with keys. */
export const Namespaces = lazy(() => import('./keyed-bar.tsx').then(part => ({ default: part.Namespaces })))
export const Unlocked = lazy(() => import('./keyed-bar.tsx').then(part => ({ default: part.Unlocked })))

interface OverlayProps {
  onClose(): void
  /** Opens the page of shortcuts. */
  onHelp(): void
  /** Asks for a secret key. */
  onUnlock(): void
}

/** The dialogs of the shell, by name. */
export const OVERLAYS = {
  search: lazy(() => import('./palette.tsx')),
  help: lazy(() => import('./help.tsx')),
  unlock: lazy(() => import('./sign-in/unlock-dialog.tsx')),
  namespace: lazy(() => import('./sign-in/namespace-dialog.tsx')),
} satisfies Record<string, ComponentType<OverlayProps>>

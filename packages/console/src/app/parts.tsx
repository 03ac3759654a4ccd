// Parts of the shell that most visits never open, as chunks of their own.

import { type ComponentType, lazy } from 'react'

export const Elsewhere = lazy(() => import('./elsewhere.tsx').then(part => ({ default: part.Elsewhere })))
export const SignIn = lazy(() => import('./sign-in/sign-in.tsx').then(part => ({ default: part.SignIn })))

interface OverlayProps {
  onClose(): void
  /** Opens the page of shortcuts. */
  onHelp(): void
  /** Asks for a secret key. */
  onUnlock(): void
}

/** The dialogs of the shell, by name. */
export const OVERLAYS = {
  search: lazy(() => import('./palette.tsx').then(part => ({ default: part.Palette }))),
  help: lazy(() => import('./help.tsx').then(part => ({ default: part.Help }))),
  unlock: lazy(() => import('./sign-in/unlock-dialog.tsx').then(part => ({ default: part.UnlockDialog }))),
  namespace: lazy(() => import('./sign-in/namespace-dialog.tsx').then(part => ({ default: part.NamespaceDialog }))),
} satisfies Record<string, ComponentType<OverlayProps>>

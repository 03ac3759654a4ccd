// Parts of the shell that most visits never open, as chunks of their own.

import { lazy } from 'react'

export const Palette = lazy(() => import('./palette.tsx').then(part => ({ default: part.Palette })))
export const Help = lazy(() => import('./help.tsx').then(part => ({ default: part.Help })))
export const SignIn = lazy(() => import('./sign-in/sign-in.tsx').then(part => ({ default: part.SignIn })))
export const UnlockDialog = lazy(() =>
  import('./sign-in/unlock-dialog.tsx').then(part => ({ default: part.UnlockDialog })),
)
export const NamespaceDialog = lazy(() =>
  import('./sign-in/namespace-dialog.tsx').then(part => ({ default: part.NamespaceDialog })),
)

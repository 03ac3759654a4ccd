// Whether payloads are hidden: by the engine for everyone, or in this browser. Their shapes are shown instead. This protects
// against looks over the shoulder; it is not access control.

import { browserFlag } from '../data/storage/flag.ts'

/** The engine writes `0` there if it hides payloads. */
const BY_ENGINE = document.querySelector<HTMLMetaElement>('meta[name=perdure-payloads]')?.content === '0'

const veil = browserFlag('perdure.payloads.hidden')

/** Hides payloads in this browser, or shows them again. Returns whether they are hidden now. */
export const toggleVeil = veil.toggle

/** Whether payloads are hidden, and whether the engine hides them for everyone. */
export function useVeil(): { isHidden: boolean; isByEngine: boolean } {
  const isHere = veil.use()
  return { isHidden: BY_ENGINE || isHere, isByEngine: BY_ENGINE }
}

// Moves the focus to a place near the control that had it, when that control disappears. Loaded with the first key press.

/** The element that last had the focus, and its ancestors, the nearest first. */
let path: readonly Element[] = []

function follow(): void {
  const found: Element[] = []
  for (let element = document.activeElement; element; element = element.parentElement) found.push(element)
  path = found
}

function restore(): void {
  if (path[0]?.isConnected || document.activeElement !== document.body) return
  placeNear(path)?.focus({ preventScroll: true })
}

/**
 * Returns the row or the timeline that the keys act on, in the nearest part of the page that has one; otherwise the heading of
 * the page.
 */
function placeNear(lost: readonly Element[]): HTMLElement | null {
  for (const element of lost.filter(({ isConnected }) => isConnected)) {
    if (element.matches('dialog')) return element.querySelector('button')
    if (element.matches('header,[data-page]')) break
    const place = element.querySelector<HTMLElement>('[role=treegrid],tr[tabindex="0"]')
    if (place) return place
  }
  return document.querySelector('main h1')
}

export function keepFocus(): void {
  follow()
  document.addEventListener('focusin', follow)
  new MutationObserver(restore).observe(document.body, { childList: true, subtree: true })
}

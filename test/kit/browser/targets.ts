// Controls are large enough for a finger: 24 by 24 px. A smaller control is fine if a circle of that size around its middle meets
// no other control. Links inside a sentence may be as high as its lines (WCAG 2.2, 2.5.8).

import type { Page } from 'playwright-core'

/** Runs in the page: finds the controls that are too small and too near to another one. */
const TOO_SMALL = `(() => {
  const SIZE = 24
  /** The spans of time of a chart are as wide as its window lets them be. Keys choose them too. */
  const SPANS = 'button[title*="Shift and an arrow key"]'
  const CONTROLS = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"], [role=tab], [role=menuitem]'
  /** The part of a box that is not cut off. */
  const seen = element => {
    let { left, right, top, bottom } = element.getBoundingClientRect()
    for (let each = element.parentElement; each && each.tagName !== 'MAIN'; each = each.parentElement) {
      if (getComputedStyle(each).overflow === 'visible') continue
      const frame = each.getBoundingClientRect()
      left = Math.max(left, frame.left)
      right = Math.min(right, frame.right)
      top = Math.max(top, frame.top)
      bottom = Math.min(bottom, frame.bottom)
    }
    return { left, right, top, bottom, width: right - left, height: bottom - top }
  }
  /** A label is a part of its control. */
  const boxOf = element => {
    const own = seen(element)
    const label = element.closest('label')
    const whole = label && seen(label)
    return whole && whole.height > own.height ? whole : own
  }
  const isShown = element => {
    const { width, height } = element.getBoundingClientRect()
    return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]') && !element.matches(SPANS)
  }
  /** A link among the words of a line. */
  const isInline = element => {
    if (!element.matches('a') || getComputedStyle(element).display !== 'inline') return false
    const parent = element.parentElement
    if ([...parent.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== '')) return true
    return parent.matches('li, p') && [...parent.children].some(each => !each.matches(CONTROLS) && each.textContent.trim() !== '')
  }
  const shown = [...document.querySelectorAll(CONTROLS)]
    .filter(isShown)
    .map(element => ({ element, box: boxOf(element) }))
    .filter(({ box }) => box.width > 1 && box.height > 1)
  const isSmall = ({ width, height }) => width < SIZE - 0.1 || height < SIZE - 0.1
  const middleOf = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2]
  const isNear = (box, other) => {
    const [x, y] = middleOf(box)
    if (isSmall(other)) {
      const [otherX, otherY] = middleOf(other)
      if (Math.hypot(x - otherX, y - otherY) < SIZE - 0.1) return true
    }
    const dx = Math.max(other.left - x, 0, x - other.right)
    const dy = Math.max(other.top - y, 0, y - other.bottom)
    return Math.hypot(dx, dy) < SIZE / 2 - 0.1
  }
  return shown
    .filter(({ element, box }) => isSmall(box) && !isInline(element))
    .flatMap(({ element, box }) => {
      const near = shown.find(
        ({ element: other, box: otherBox }) =>
          other !== element && !other.contains(element) && !element.contains(other) && isNear(box, otherBox),
      )
      if (!near) return []
      const size = Math.round(box.width) + ' by ' + Math.round(box.height)
      return [element.outerHTML.slice(0, 160) + ' is ' + size + ', beside ' + near.element.outerHTML.slice(0, 100)]
    })
})()`

/** The controls of the page that are too small, each with the control that is too near. */
export const controlsTooSmall = (page: Page): Promise<string[]> => page.evaluate<string[]>(TOO_SMALL)

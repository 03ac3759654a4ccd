// The JSX runtime of the console's own components: React's, with hidden characters in every text and title drawn as their code
// point. vite.config.ts replaces `react/jsx-runtime` with it, so that no component can forget it.

import type { Key } from 'react'
import { Fragment, jsx as reactJsx, jsxs as reactJsxs } from 'react/jsx-runtime'
import { isPlain, visibleText } from './visible-text.ts'

/** Attributes that a browser shows or reads aloud. Values of fields stay unchanged. */
const SHOWN = ['title', 'aria-label', 'placeholder'] as const

type Props = Record<string, unknown>
type Type = Parameters<typeof reactJsx>[0]

export { Fragment }

export const jsx = (type: Type, props: Props, key?: Key) => reactJsx(type, shown(type, props), key)
export const jsxs = (type: Type, props: Props, key?: Key) => reactJsxs(type, shown(type, props), key)

/** Returns the properties of an element of the page; a component's properties reach an element eventually. */
function shown(type: Type, props: Props): Props {
  if (typeof type !== 'string' && type !== Fragment) return props
  // A list has thousands of elements, and hardly any has a hidden character: properties are copied only if one has.
  let changed: Props | undefined
  for (const name of SHOWN) if (isHiding(props[name])) changed = { ...(changed ?? props), [name]: drawn(props[name]) }
  const { children } = props
  if (Array.isArray(children) ? children.some(isHiding) : isHiding(children))
    changed = { ...(changed ?? props), children: Array.isArray(children) ? children.map(drawn) : drawn(children) }
  return changed ?? props
}

/** Whether there is a hidden character. Children that a component passes on are a list within the element's list of children. */
const isHiding = (value: unknown): boolean =>
  typeof value === 'string' ? !isPlain(value) : Array.isArray(value) && value.some(isHiding)

function drawn(value: unknown): unknown {
  if (!isHiding(value)) return value
  return Array.isArray(value) ? value.map(drawn) : visibleText(value as string)
}

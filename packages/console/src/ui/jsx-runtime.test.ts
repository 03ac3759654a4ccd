// No component can bring a hidden character onto the page.

import { expect, it } from 'vitest'
import { Fragment, jsx, jsxs } from './jsx-runtime.ts'

const propsOf = (element: unknown) => (element as { props: Record<string, unknown> }).props

it('draws hidden characters of texts and titles, and leaves values and the rest as they are', () => {
  const element = jsx('input', { title: 'a\u202eb', value: 'a\u202eb', 'aria-label': '\u0000', className: 'x' })
  expect(propsOf(element)).toEqual({ title: 'aU+202Eb', value: 'a\u202eb', 'aria-label': 'U+0000', className: 'x' })
  expect(propsOf(jsx('p', { children: 'a\u200bb' })).children).toBe('aU+200Bb')
  expect(propsOf(jsxs(Fragment, { children: ['x\u2066', 1, null] })).children).toEqual(['xU+2066', 1, null])
  const passedOn = ['A run of ', 'a\u202eb', ['\u0000']]
  const { children } = propsOf(jsxs('p', { children: [passedOn, 'x'] }))
  expect(children).toEqual([['A run of ', 'aU+202Eb', ['U+0000']], 'x'])
  expect(propsOf(jsx('p', { children: 'plain\n\ttext 👩 é' })).children).toBe('plain\n\ttext 👩 é')
})

it('does not touch what a component gets', () => {
  const props = { children: 'a\u202eb' }
  expect(propsOf(jsx(() => null, props))).toEqual(props)
})

// The contrast of every colour of tokens.css, computed from the file (WCAG 2.2: 4.5 for text, 3 for borders of controls).

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const css = readFileSync(new URL('../../packages/console/src/app/tokens.css', import.meta.url), 'utf8')
const colours = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name = '', light, dark]) => [
    name,
    [light, dark] as [string, string],
  ]),
)
const TEXTS = [
  'fg',
  'mute',
  'link',
  'succeeded',
  'failed',
  'running',
  'waiting',
  'retrying',
  'paused',
  'queued',
  'cancelled',
]
const GROUNDS = ['bg', 'bg-raised', 'bg-worst', 'bg-hover', 'bg-selected']

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map(at => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(one: string, other: string, theme: 0 | 1): number {
  const [a, b] = [one, other].map(name => luminance(colours.get(name)?.[theme] ?? '')) as [number, number]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

test.each([
  ['light', 0],
  ['dark', 1],
] as const)('every text is readable on every ground, and controls have visible borders: %s', (_, theme) => {
  const pairs = [
    ...TEXTS.flatMap(text => GROUNDS.map(ground => [text, ground, 4.5] as const)),
    ...GROUNDS.map(ground => ['border', ground, 3] as const),
    ['on-solid', 'link', 4.5] as const,
  ]
  const low = pairs.filter(([text, ground, least]) => !(contrast(text, ground, theme) >= least))
  expect(low).toEqual([])
})

// A bundle on its way from the worker that reads it to the page. Messages keep neither a number's text nor classes, so fields
// that are objects travel as their JSON text: payloads also stay text in the page, and the page parses the small rest. Pure.

import { parse, RawJson, sourceOf } from '../../data/json/parse.ts'
import type { BundleView } from './read-bundle.ts'

/** The fields that hold payloads, which views show by their text. */
const PAYLOADS: ReadonlySet<string> = new Set(['data', 'fields', 'input', 'result', 'value'])

/** A record of the bundle: its plain fields, and the text of the others. */
interface PackedRecord {
  plain: Record<string, unknown>
  texts: [field: string, text: string][]
}

export interface PackedBundle {
  view: Omit<BundleView, 'run' | 'steps' | 'frames'>
  run: PackedRecord
  steps: PackedRecord[]
  frames: PackedRecord[]
}

export function packBundle({ run, steps, frames, ...view }: BundleView): PackedBundle {
  return { view, run: packed(run), steps: steps.map(packed), frames: frames.map(packed) }
}

export function unpackBundle({ view, run, steps, frames }: PackedBundle): BundleView {
  return {
    ...view,
    run: unpacked<BundleView['run']>(run),
    steps: steps.map(unpacked<BundleView['steps'][number]>),
    frames: frames.map(unpacked<BundleView['frames'][number]>),
  }
}

function packed(record: object): PackedRecord {
  const plain: Record<string, unknown> = {}
  const texts: PackedRecord['texts'] = []
  for (const [field, value] of Object.entries(record)) {
    const text = typeof value === 'object' && value !== null ? sourceOf(value) : undefined
    // An empty object has nothing to show.
    if (text === undefined) plain[field] = value
    else if (text !== '{}') texts.push([field, text])
  }
  return { plain, texts }
}

function unpacked<One>({ plain, texts }: PackedRecord): One {
  const read = texts.map(([field, text]) => [field, PAYLOADS.has(field) ? new RawJson(text) : parse(text)] as const)
  return { ...plain, ...Object.fromEntries(read) } as One
}

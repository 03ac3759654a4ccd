// Loaded before an engine process: its wall clock is off by the number of milliseconds in the file `PERDURE_PROVE_CLOCK`, as soon
// as the file has one. The monotonic clock continues evenly, as on a machine whose time is set.

import { readFileSync } from 'node:fs'

const file = process.env.PERDURE_PROVE_CLOCK
const now = Date.now
const READ_EVERY_MS = 20
let readAt = Number.NEGATIVE_INFINITY
let offsetMs = 0

function skewed() {
  const at = performance.now()
  if (at - readAt >= READ_EVERY_MS) {
    readAt = at
    offsetMs = Number(readFileSync(file, 'utf8'))
  }
  return now() + offsetMs
}

globalThis.Date = class extends Date {
  constructor(...args) {
    super(...(args.length === 0 ? [skewed()] : args))
  }

  static now() {
    return skewed()
  }
}

// Compares two texts line by line. For large texts it only finds the common start and end, so that the time is bounded.

export interface DiffLine {
  kind: 'same' | 'removed' | 'added'
  text: string
  /** Line numbers from 1; absent on the side that lacks the line. */
  before?: number
  after?: number
}

/** Maximum number of table cells that a comparison may fill. */
const CELLS_MAX = 4_000_000

/** Returns the lines of both texts in order, each marked. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n')
  const b = after.split('\n')
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const lines: DiffLine[] = []
  const same = (i: number, j: number) => lines.push({ kind: 'same', text: a[i] as string, before: i + 1, after: j + 1 })
  for (let i = 0; i < start; i++) same(i, i)
  addMiddle(lines, { a, b, start, aEnd: a.length - end, bEnd: b.length - end }, same)
  for (let i = end; i > 0; i--) same(a.length - i, b.length - i)
  return lines
}

interface Middle {
  a: readonly string[]
  b: readonly string[]
  start: number
  aEnd: number
  bEnd: number
}

function addMiddle(lines: DiffLine[], middle: Middle, same: (i: number, j: number) => void): void {
  const { a, b, start, aEnd, bEnd } = middle
  const table = longestCommon(middle)
  let [i, j] = [start, start]
  const width = bEnd - start + 1
  const lengthAt = (row: number, column: number) => table?.[(row - start) * width + column - start] ?? 0
  while (i < aEnd || j < bEnd) {
    if (table && i < aEnd && j < bEnd && a[i] === b[j]) same(i++, j++)
    else if (i < aEnd && (j === bEnd || lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      lines.push({ kind: 'removed', text: a[i] as string, before: i + 1 })
      i++
    } else {
      lines.push({ kind: 'added', text: b[j] as string, after: j + 1 })
      j++
    }
  }
}

/** Returns the lengths of the longest common subsequences of all suffixes; undefined if the table would be too large. */
function longestCommon({ a, b, start, aEnd, bEnd }: Middle): Uint32Array | undefined {
  const height = aEnd - start + 1
  const width = bEnd - start + 1
  if (height * width > CELLS_MAX) return undefined
  const table = new Uint32Array(height * width)
  for (let i = height - 2; i >= 0; i--) {
    for (let j = width - 2; j >= 0; j--) {
      const at = i * width + j
      table[at] =
        a[start + i] === b[start + j]
          ? (table[at + width + 1] as number) + 1
          : Math.max(table[at + width] as number, table[at + 1] as number)
    }
  }
  return table
}

/** Returns the lines without long equal stretches: `context` lines stay around each change. */
export function changedStretches(lines: readonly DiffLine[], context = 3): (DiffLine | { skipped: number })[] {
  const keep = new Uint8Array(lines.length)
  for (const [i, line] of lines.entries()) {
    if (line.kind === 'same') continue
    for (let k = Math.max(0, i - context); k <= Math.min(lines.length - 1, i + context); k++) keep[k] = 1
  }
  const out: (DiffLine | { skipped: number })[] = []
  for (const [i, line] of lines.entries()) {
    const last = out[out.length - 1]
    if (keep[i] === 1) out.push(line)
    else if (last && 'skipped' in last) last.skipped++
    else out.push({ skipped: 1 })
  }
  return out
}

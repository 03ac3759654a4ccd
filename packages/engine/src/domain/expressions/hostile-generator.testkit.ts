// Generates hostile expressions and their events from a seed: nested loops over text functions, patterns that explode, and
// texts of 16 KB to 1 MB. Shared by the tests and by the benchmark that measures how long each may take.

type Random = () => number

export interface Hostile {
  source: string
  data: Record<string, unknown>
}

/** Returns the same for the same seed. */
export function generateHostile(seed: number, count: number): Hostile[] {
  const random = randomOf(seed)
  const events = Array.from({ length: EVENTS }, () => eventData(random))
  return Array.from({ length: count }, () => ({ source: condition(random, 0), data: oneOf(random, events) }))
}

function randomOf(seed: number): Random {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function oneOf<T>(random: Random, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)] as T
}

const KB = 1024
/** Number of different events among the generated ones. */
const EVENTS = 25
const ALPHABETS = ['a', 'ab', 'abcdefghij ,;', 'жщ', 'aж😀', '😀', 'ŉß', '0123456789']

function text(random: Random, length: number): string {
  const letters = [...oneOf(random, ALPHABETS)]
  const part = Array.from({ length: Math.min(length, 2000) }, () => oneOf(random, letters)).join('')
  return part.repeat(Math.ceil(length / part.length)).slice(0, length)
}

/** Patterns that make a backtracking matcher run for ever, or that compile to large programs. */
const PATTERNS = [
  '(a+)+$', '(a|aa)+$', '([ab]*a){10}[cd]', '[ab]*a[ab]{12}[cd]', '(?:a?){50}[ab]{50}', '(.*)(.*)(.*)(.*)[^a]$', '(x+x+)+y',
  '(\\pL|\\pN){1,20}[xy]$', '(?i)[\\pL\\pM]{1,9}[xy]', '((a{10}){10}){10}', '\\pL{1000}', '.{1,100}', '^(?:[ab]{1,20}){9}c',
  '(?:.*a.*b){5}[cd]', '[^a]*?b', '(',
] as const // biome-ignore format: one line for many

function eventData(random: Random): Record<string, unknown> {
  const long = oneOf(random, [16, 16, 64, 256, 1024]) * KB
  const items = oneOf(random, [10, 100, 1000, 5000])
  const each = Math.floor(long / items)
  return {
    text: text(random, long),
    other: text(random, oneOf(random, [1, 5, 100, 300, 5000, long >> 1])),
    pattern: random() < 0.3 ? text(random, 2800) : oneOf(random, PATTERNS),
    list: Array.from({ length: items }, (_, i) => (i % 50 === 0 ? text(random, each) : 'a'.repeat(each))),
    patterns: Array.from({ length: items }, (_, i) => `${oneOf(random, PATTERNS)}${i}`),
    numbers: Array.from({ length: items }, (_, i) => i),
    rows: Array.from({ length: items }, (_, i) => ({ id: i, name: `n${i}` })),
    wide: Object.fromEntries(Array.from({ length: items }, (_, i) => [`k${i}`, i])),
  }
}

/** A text: from the event, from the loop, or from both. */
function textOf(random: Random, variable: string | undefined): string {
  const own = variable === undefined ? [] : [variable, variable, `string(${variable})`]
  const source = oneOf(random, [...own, 'event.data.text', 'event.data.other', 'event.data.list[0]'])
  return oneOf(random, [
    source, source, source, `(${source} + ${source})`, `${source}.lowerAscii()`, `${source}.trim()`, `string(bytes(${source}))`,
    `${source}.substring(1)`, `event.data.list.join("${oneOf(random, ['', ','])}")`,
  ]) // biome-ignore format: one line for many
}

function condition(random: Random, depth: number, variable?: string): string {
  if (depth < 2 && random() < (depth === 0 ? 0.8 : 0.5)) {
    const name = `v${depth}`
    const over = oneOf(random, [
      'event.data.list', 'event.data.numbers', 'event.data.rows', 'event.data.wide', 'event.data.patterns',
      'event.data.text.split("")', 'event.data.list.map(m, m + m)', '[1, 2, 3, 4, 5, 6, 7, 8]',
    ]) // biome-ignore format: one line for many
    const isMapped = over.includes('.map(') || over.includes('split')
    const loop = oneOf(random, ['all', 'exists', 'exists_one'])
    return `${over}.${loop}(${name}, ${condition(random, isMapped ? 2 : depth + 1, name)})`
  }
  const [one, two] = [textOf(random, variable), textOf(random, variable)]
  const pattern = oneOf(random, PATTERNS.slice(0, 9)).replaceAll('\\', '\\\\')
  return oneOf(random, [
    `!${one}.contains(${two})`, `${one}.lastIndexOf(${two}) < 0`, `${one}.indexOf(${two}) < 0`, `${one}.size() > 0`,
    `${one} != ${two}`, `${one} < ${two} || true`, `!${one}.matches("${pattern}")`, `!${one}.matches(event.data.pattern)`,
    `!event.data.text.matches(${variable ?? 'event.data.pattern'})`, `event.data == event.data`, `!(${one} in event.data.list)`,
    `${one}.upperAscii().size() > 0`, `event.data.rows != event.data.list`, `duration(${one}) == duration("1s") || true`,
    `${one}.split(",").size() > 0`, `bytes(${one}) != bytes(${two})`, `timestamp(0).getHours(${one}) > 0 || true`,
    `double(${one}) > 0.0 || ${variable ?? 'event.data'}.missing || true`, `!${one}.endsWith(${two})`,
    `cel.bind(b, ${one} + ${two}, !(b + b).contains("zz"))`,
  ]) // biome-ignore format: one line for many
}

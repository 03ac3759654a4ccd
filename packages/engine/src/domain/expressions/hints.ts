// Hints for expressions that are written as JavaScript, SQL or Python instead of CEL (docs/events.md#expressions). Called
// when an expression does not compile, and for the warnings of a registration.

/** The members of an event that expressions see. */
const EVENT_MEMBERS = ['id', 'name', 'data']

/** Forms of other languages, and how CEL writes them. The first form that the source has gives the hint. */
const FORMS: readonly (readonly [form: RegExp, hint: string])[] = [
  [/[=!]==/, 'CEL compares with == and !='],
  [/=>/, 'CEL has no arrow functions: list.exists(x, x > 1), list.all(x, …), list.filter(x, …) and list.map(x, …)'],
  [/\?\?/, 'CEL has no ??: has(event.data.a) ? event.data.a : other'],
  [/\?\./, 'CEL has no ?.: has(event.data.a) && event.data.a.b == 1'],
  [/<>/, 'CEL writes "not equal" as !='],
  [/`/, 'CEL quotes strings with \' or "'],
  [/;/, 'an expression cannot contain ;'],
  [/(?<![.\w])and\b/i, 'CEL writes "and" as &&'],
  [/(?<![.\w])or\b/i, 'CEL writes "or" as ||'],
  [/(?<![.\w])not\b/i, 'CEL writes "not" as !'],
  [/(?<![.\w])is\b/i, 'CEL compares with ==, also with null'],
  [/(?<![.\w])like\b/i, "CEL has text.contains('x'), text.startsWith('x') and text.matches('^x')"],
  [/\btypeof\b/, 'CEL has type(event.data.a) == string'],
  [/\bnew\s+Date\b|\bDate\s*\./, 'CEL has timestamp(event.data.at), and no current time'],
  [/\.(includes|has)\s*\(/, "CEL has value in list, and text.contains('x')"],
  [/\.(some|find|findIndex)\s*\(/, 'CEL has list.exists(x, x > 1)'],
  [/\.every\s*\(/, 'CEL has list.all(x, x > 1)'],
  [/\.(startswith|startWith)\s*\(/, "CEL has text.startsWith('x')"],
  [/\.(endswith|endWith)\s*\(/, "CEL has text.endsWith('x')"],
  [/\.(toLowerCase|toUpperCase)\s*\(/, 'CEL has text.lowerAscii() and text.upperAscii()'],
  [/\.(test|match|search)\s*\(|^\s*\//, "CEL has text.matches('^x')"],
  [
    /\b(Math|Number|String|JSON|Object|Array)\b/,
    'CEL has int(x), double(x), string(x) and size(list), and no globals of JavaScript',
  ],
  [/\b(undefined|None|nil)\b/, 'CEL has null, and has(event.data.a) for a member that may be missing'],
  [/\b(True|False)\b/, 'CEL writes true and false'],
  [/(?<![=!<>])=(?![=])/, 'CEL compares with =='],
]

/**
 * Suggests how CEL writes what an expression that does not compile probably means; undefined if there is no suggestion.
 * `reason` is the compiler's. `inWait`: the expression also has the variable `async`.
 */
export function hintFor(source: string, reason: string, { inWait = false } = {}): string | undefined {
  const code = withoutTexts(source)
  for (const [form, hint] of FORMS) {
    if (form.test(code)) return hint
  }
  const unknown = /^Unknown variable: (\w+)/.exec(reason)?.[1]
  if (unknown === undefined) return undefined
  if (unknown === 'async') return 'only waits and cancelOn have `async`; the arriving event is `event` here'
  const path = new RegExp(`(?<![\\w.])${unknown}((\\.\\w+)*)`).exec(code)?.[0] ?? unknown
  const member = EVENT_MEMBERS.includes(unknown) ? path : `data.${path}`
  return inWait ? `did you mean event.${member} or async.${member}?` : `did you mean event.${member}?`
}

/** Finds members that no event has, as in `event.customerId`, and lengths in the style of JavaScript: a sentence for each. */
export function doubtfulReads(source: string): string[] {
  const code = withoutTexts(source)
  const reads = [...code.matchAll(/(?<![\w.])(event|async)\.(\w+)(\.\w+)*/g)]
  const doubts = reads.flatMap(([path, variable, member = '']) => {
    if (!EVENT_MEMBERS.includes(member)) {
      const meant = `${variable}.data.${path.slice(`${variable}.`.length)}`
      return [`reads ${path}, and an event has only ${EVENT_MEMBERS.join(', ')}; did you mean ${meant}?`]
    }
    const list = /^(.*)\.length$/.exec(path)?.[1]
    return list === undefined ? [] : [`reads ${path}: the length of a list or text is size(${list})`]
  })
  return [...new Set(doubts)]
}

/** The source with all quoted texts blanked, so that words in texts are not taken for code. */
function withoutTexts(source: string): string {
  return source.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, text => `"${' '.repeat(Math.max(0, text.length - 2))}"`)
}

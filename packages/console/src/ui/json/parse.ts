// Reads JSON into nodes that keep what JSON.parse loses: every digit of numbers, the order of keys, keys that appear twice. It is
// not recursive, so that a text of a million brackets does not overflow the stack.

export type JsonNode =
  | { kind: 'object'; members: { key: string; value: JsonNode }[] }
  | { kind: 'array'; items: JsonNode[] }
  | { kind: 'string'; value: string }
  /** The number as it was written. */
  | { kind: 'number'; source: string }
  /** `true`, `false`, `null`, or the shape of a value that is hidden. */
  | { kind: 'literal'; source: string }

type Parent = Extract<JsonNode, { kind: 'object' | 'array' }>

/** One token: a bracket, a separator, a string, a number or a literal, after white space. */
const TOKEN =
  /[\t\n\r ]*(?:([{}[\],:])|("[^"\\]*(?:\\.[^"\\]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y
const SPACE = /[\t\n\r ]*$/y

/** Parses a JSON text. Throws a SyntaxError that names the position of the first fault. */
export function parseJson(text: string): JsonNode {
  return new Parser(text).parse()
}

/** The parser of one text. It keeps the open objects and arrays on its own stack. */
class Parser {
  readonly #text: string
  readonly #stack: { node: Parent; key?: string }[] = []
  #at = 0
  #root: JsonNode | undefined

  constructor(text: string) {
    this.#text = text
  }

  parse(): JsonNode {
    this.#value(this.#next())
    while (this.#stack.length > 0) this.#member()
    SPACE.lastIndex = this.#at
    if (this.#root === undefined || !SPACE.test(this.#text)) throw this.#fault()
    return this.#root
  }

  /** Reads one member of the innermost open object or array, or its end. */
  #member(): void {
    const top = this.#stack[this.#stack.length - 1] as { node: Parent; key?: string }
    const isEmpty = top.node.kind === 'object' ? top.node.members.length === 0 : top.node.items.length === 0
    let token = this.#next()
    if (token === (top.node.kind === 'object' ? '}' : ']')) {
      this.#stack.pop()
      return
    }
    if (!isEmpty) {
      if (token !== ',') throw this.#fault()
      token = this.#next()
    }
    if (top.node.kind === 'object') {
      if (!token.startsWith('"')) throw this.#fault()
      top.key = JSON.parse(token) as string
      if (this.#next() !== ':') throw this.#fault()
      token = this.#next()
    }
    this.#value(token)
  }

  #value(token: string): void {
    const node = this.#nodeOf(token)
    const top = this.#stack[this.#stack.length - 1]
    if (top === undefined) this.#root = node
    else if (top.node.kind === 'array') top.node.items.push(node)
    else top.node.members.push({ key: top.key as string, value: node })
    if (node.kind === 'object' || node.kind === 'array') this.#stack.push({ node })
  }

  #nodeOf(token: string): JsonNode {
    if (token === '{') return { kind: 'object', members: [] }
    if (token === '[') return { kind: 'array', items: [] }
    if (token.startsWith('"')) return { kind: 'string', value: JSON.parse(token) as string }
    if (token === 'true' || token === 'false' || token === 'null') return { kind: 'literal', source: token }
    if (/^[-\d]/.test(token)) return { kind: 'number', source: token }
    throw this.#fault()
  }

  #next(): string {
    TOKEN.lastIndex = this.#at
    const match = TOKEN.exec(this.#text)
    if (match === null) throw this.#fault()
    this.#at = TOKEN.lastIndex
    return (match[1] ?? match[2] ?? match[3] ?? match[4]) as string
  }

  #fault(): SyntaxError {
    return new SyntaxError(`not JSON at character ${this.#at}`)
  }
}

/** Returns the node of a value in memory, for values that were never text. Members that are undefined are left out. */
export function nodeOf(value: unknown): JsonNode {
  return parseJson(JSON.stringify(value) ?? 'null')
}

/** Returns the member of an object; for a key that appears twice, the last one, like JSON.parse. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  if (node?.kind !== 'object') return undefined
  for (let i = node.members.length - 1; i >= 0; i--) if (node.members[i]?.key === key) return node.members[i]?.value
  return undefined
}

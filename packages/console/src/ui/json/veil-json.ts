// The shape of a JSON value without its values: `{"email": string(17), "age": number}`. Keys stay. Pure.

import { type JsonNode, parseJson } from './parse.ts'
import { printJson } from './print.ts'

/** Replaces each value by its kind, in the tree itself. Not recursive, because values may be deep. */
function veil(root: JsonNode): JsonNode {
  const whole: { items: JsonNode[] } = { items: [root] }
  const open: ({ items: JsonNode[] } | { members: { value: JsonNode }[] })[] = [whole]
  for (let parent = open.pop(); parent; parent = open.pop()) {
    const put = (node: JsonNode): JsonNode => {
      if (node.kind !== 'object' && node.kind !== 'array') return { kind: 'literal', source: shapeOf(node) }
      open.push(node)
      return node
    }
    if ('items' in parent) for (const [i, item] of parent.items.entries()) parent.items[i] = put(item)
    else for (const member of parent.members) member.value = put(member.value)
  }
  return whole.items[0] as JsonNode
}

/** Returns the value of a JSON text, or its shape; undefined for a text that is not JSON. */
export function readJson(text: string, isVeiled: boolean): JsonNode | undefined {
  try {
    const node = parseJson(text)
    return isVeiled ? veil(node) : node
  } catch {
    return undefined
  }
}

function shapeOf(node: Extract<JsonNode, { kind: 'string' | 'number' | 'literal' }>): string {
  if (node.kind === 'string') return `string(${node.value.length})`
  if (node.kind === 'number') return 'number'
  return node.source === 'null' ? 'null' : 'boolean'
}

/** Longer texts are not read in the page's thread: a worker reads them, on request. */
export const LARGE_CHARS = 256 * 1024

/** Returns the shape of a JSON text; for a text that is not JSON, or is large, its length. */
export function veiledText(text: string, indent = false): string {
  if (text.length > LARGE_CHARS) return `value(${text.length})`
  const shape = readJson(text, true)
  return shape ? printJson(shape, indent) : `string(${text.length})`
}

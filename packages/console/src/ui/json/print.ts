// Writes nodes as JSON text, for copying, editing and comparing. Numbers are written as they were read.

import type { JsonNode } from './parse.ts'

/** Returns JSON text with two spaces of indentation. Without `indent`, in one line. */
export function printJson(root: JsonNode, indent = true): string {
  const out: string[] = []
  // Open nodes, and the position in each: deep values must not overflow the stack.
  const stack: { node: JsonNode; next: number }[] = [{ node: root, next: 0 }]
  while (stack.length > 0) {
    const top = stack[stack.length - 1] as { node: JsonNode; next: number }
    const { node } = top
    const size = sizeOf(node)
    const [open, close] = node.kind === 'array' ? ['[', ']'] : ['{', '}']
    if (size === undefined) {
      out.push(scalarText(node))
      stack.pop()
    } else if (top.next === size) {
      if (size === 0) out.push(open)
      else if (indent) out.push(lineBreak(stack.length - 1))
      out.push(close)
      stack.pop()
    } else {
      out.push(top.next === 0 ? open : ',')
      if (indent) out.push(lineBreak(stack.length))
      const member = node.kind === 'object' ? node.members[top.next] : undefined
      if (member) out.push(JSON.stringify(member.key), indent ? ': ' : ':')
      const child = member?.value ?? (node as { items: JsonNode[] }).items[top.next]
      top.next++
      stack.push({ node: child as JsonNode, next: 0 })
    }
  }
  return out.join('')
}

/** Returns the number of members of an object or items of an array; undefined for other values. */
export function sizeOf(node: JsonNode): number | undefined {
  if (node.kind === 'object') return node.members.length
  return node.kind === 'array' ? node.items.length : undefined
}

/** Returns the text of a value that is neither an object nor an array. */
export function scalarText(node: JsonNode): string {
  if (node.kind === 'string') return JSON.stringify(node.value)
  return node.kind === 'number' || node.kind === 'literal' ? node.source : ''
}

const lineBreak = (depth: number) => `\n${'  '.repeat(depth)}`

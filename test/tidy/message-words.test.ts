// The words of messages that users read, in the engine, the SDK, the client, the command line and the protocol, and of the
// documentation pages: no phrase that a common term has replaced. The console has a stricter check (console-words).

import ts from 'typescript'
import { expect, it } from 'vitest'
import { filesLike } from './files.ts'

/** Phrases that stood for common terms, in messages and in pages. */
const PHRASES = [
  /\bfor ever\b|\bof then\b|\bof now\b|\ball the same\b|\bas ever\b|\bwhich is the most\b|\bthe most of one\b/i,
  /\bis no schedule\b|\btoo late to\b|\bis no JSON\b|\b(is|are) there already\b|\bfor want of\b|\bfell silent\b|\bcome in time\b/i,
  /\bcame to nothing\b|\bcomes? to nothing\b|\bled to nothing\b|\btakes nothing more\b|\bhad its time\b|\bstands? in line\b/i,
]
/** Phrases forbidden only in messages, because pages have other uses for them. */
const OF_MESSAGES = [
  /\bany ?more\b(?! than)|\banew\b|\bgoes? on\b|\bnever comes\b|\bhas no JSON\b|\bwhoever\b|\bits time is over\b|\bso many\b|\bthat of\b/i,
  /\bdoes not know (it|onCancel|signals|callbacks|rollbacks|limits|output streams|attributes)\b|\bknows up to\b/i,
  /\b(condition|key|attribute|expression) gives (?!access)|\bopens no\b|\bserves no\b|\blistens on no\b|\bfollows no\b/i,
  /\bcounts? (until|instead|for so long)\b/i,
]

/** The string literals and templates of a source that contain a space. Other texts are not sentences. */
function messagesOf(path: string, source: string): string[] {
  const messages: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isInterfaceDeclaration(node)) return
    if (ts.isStringLiteralLike(node)) messages.push(node.text)
    else if (ts.isTemplateExpression(node))
      messages.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…'))
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest))
  return messages.filter(text => text.includes(' ')).map(text => text.replace(/\s+/g, ' '))
}

/** A page without code blocks and inline code. */
const proseOf = (page: string) =>
  page
    .replace(/```[\s\S]*?```/g, '')
    .replace(/`[^`]*`/g, '')
    .replace(/\s+/g, ' ')

const found = (text: string, phrases: readonly RegExp[]) =>
  phrases.flatMap(phrase => {
    const at = text.search(phrase)
    return at === -1 ? [] : [text.slice(Math.max(0, at - 40), at + 40)]
  })

it('no message has a phrase that a common term replaced', () => {
  const sources = filesLike(/^packages\/(engine|sdk|client|cli|protocol)\/src\/(?!.*\.(test|testkit)\.).*\.ts$/)
  expect(sources.length).toBeGreaterThan(900)
  const faults = sources.flatMap(({ path, text }) =>
    messagesOf(path, text)
      .flatMap(message => found(message, [...PHRASES, ...OF_MESSAGES]))
      .map(fault => `${path}: ${fault}`),
  )
  expect(faults).toEqual([])
})

it('nor has a page of the documentation', () => {
  const pages = filesLike(/^(README|docs\/(?!(decisions|sdk|http-api)\/).*)\.md$/)
  expect(pages.length).toBeGreaterThan(45)
  expect(pages.flatMap(({ path, text }) => found(proseOf(text), PHRASES).map(fault => `${path}: ${fault}`))).toEqual([])
})

it('the check finds messages of each form', () => {
  const source = `const a = \`text \${b} is no JSON\` // for ever\nconst c = 'kept for ever'`
  expect(messagesOf('a.ts', source).flatMap(message => found(message, PHRASES))).toHaveLength(2)
  expect(found(proseOf('kept `for ever`\n```sh\nfor ever\n```\nfor ever'), PHRASES)).toHaveLength(1)
})

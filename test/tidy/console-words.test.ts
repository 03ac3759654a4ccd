// The words of the console: its labels and sentences, and its documentation page, have no phrase that a common term has replaced.

import ts from 'typescript'
import { expect, it } from 'vitest'
import { filesLike } from './files.ts'

const PHRASES = [
  // Percentiles and durations.
  /half (end )?within|\b9[59] (of 100|%) (with)?in\b|of 100 wait|after the run\b|times as long|has had the current/i,
  // States.
  /needs a look|held back|under way|running or waiting|for want of|in a state for it|left as they are|missed (its|an|\d+) instant/i,
  /\binstants?\b|spent (all|its|their)|waits that|\bw[oa]ken?\b|would wake|next in line|none that is|limiter keeps/i,
  // Buttons and links.
  /^keep$|keep (it|as|the)\b|let it (run|wait)|(send|start) nothing|the same as a command|read (again|on)\b|decide it again|^go on$/i,
  /^its |\bits (runs|work|events|deliveries|audit entries)$|with fixed times|all that match|copy the (id|link|address)/i,
  // Results and errors.
  /of then\b|any more\b|came of it|could not be read|no such (run|page)|another key|on top\b|names no page|acted (yet|on)/i,
  /other (status|result)|many runs$|chosen by id|what it (would|did)|handler of its own|took the test|looked at|goes by\b/i,
  // Terms of events and webhooks.
  /dedupe id|\bposts\b(?!\.)|\bpost(ed)? (of|to|in|again|at once)\b|one like (it|this)|that arrive later|event waits for others|^becomes$/i,
]

/** The string literals, templates and JSX texts of a source. Code without spaces or capitals is not a text for readers. */
function textsOf(path: string, source: string): string[] {
  const texts: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isInterfaceDeclaration(node)) return
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node))
      texts.push(node.text)
    else if (ts.isJsxText(node)) texts.push(node.text.replace(/\s+/g, ' ').trim())
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest))
  return texts.filter(text => /[A-Z ]/.test(text))
}

const found = (texts: readonly string[]) => texts.filter(text => PHRASES.some(phrase => phrase.test(text)))

it('no text of the console has a phrase that a common term replaced', () => {
  const sources = filesLike(/^packages\/console\/src\/(?!.*\.test\.).*\.tsx?$/)
  expect(sources.length).toBeGreaterThan(200)
  expect(sources.flatMap(({ path, text }) => found(textsOf(path, text)).map(each => `${path}: ${each}`))).toEqual([])
})

it('nor has its page of the documentation', () => {
  const [page] = filesLike(/^docs\/console\.md$/)
  expect(found((page?.text ?? '').split('\n'))).toEqual([])
})

it('the check finds texts of each form', () => {
  const source = 'const a = <b title="Needs a look">Held\n back {n ? ` spent all` : \'Keep\'}</b> // under way'
  expect(found(textsOf('a.tsx', source))).toEqual(['Needs a look', 'Held back', ' spent all', 'Keep'])
})

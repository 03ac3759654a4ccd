// The language of comments: no opener that hides the subject, and none of the words that a technical term replaces.

import { expect, it } from 'vitest'
import { filesLike } from './files.ts'

const OPENER = /^(?:Of|Who|Whoever|What|So|Those|Such|Told)\b/
/** Metaphors and vague verbs that stood for technical terms. */
const WORDS =
  /\b(?:tells?|told|whoever|wherefore|lies? down|lay down|stands? in line|in line for|for want of|of no use|sees? to it|comes? to nothing|is asked|are asked|hands? over|handed over|gives? way|have their say)\b/i

/** A comment: its first line, from 1, and its text in one line. */
interface Comment {
  line: number
  text: string
}

/** Comments on lines of their own. Consecutive `//` lines are one comment. */
function commentsOf(source: string): Comment[] {
  const comments: Comment[] = []
  let open: Comment | undefined
  let isBlock = false
  for (const [i, raw] of source.split('\n').entries()) {
    const line = raw.trim()
    const starts: boolean = !isBlock && line.startsWith('/*')
    const isComment = isBlock || starts || line.startsWith('//')
    if (!isComment) {
      open = undefined
      continue
    }
    if (!open || starts) {
      open = { line: i + 1, text: '' }
      comments.push(open)
    }
    const text = line.replace(/^(?:\/\/|\/\*+|\*(?!\/))\s?/, '').replace(/\*\/$/, '')
    open.text += ` ${text.trim()}`
    isBlock = (isBlock || starts) && !line.endsWith('*/')
    if (starts && !isBlock) open = undefined
  }
  return comments.map(({ line, text }) => ({ line, text: text.trim() }))
}

const comments = filesLike(/\.(ts|tsx|mjs|js|cjs)$/).flatMap(({ path, text }) =>
  commentsOf(text).map(comment => ({ path, ...comment })),
)
const shown = ({ path, line, text }: (typeof comments)[number]) => `${path}:${line}: ${text.slice(0, 100)}`

it('no comment opens without its subject', () => {
  expect(comments.filter(({ text }) => OPENER.test(text)).map(shown)).toEqual([])
})

it('no comment has a word that a technical term replaces', () => {
  expect(comments.filter(({ text }) => WORDS.test(text)).map(shown)).toEqual([])
})

it('the checks find comments of each form', () => {
  const source = '// a\n// b\ncode() // c\n/** d */\n/**\n * e\n * f\n */\n'
  expect(commentsOf(source)).toEqual([
    { line: 1, text: 'a b' },
    { line: 4, text: 'd' },
    { line: 5, text: 'e f' },
  ])
  expect(['What it does.', 'It is told.'].map(text => OPENER.test(text) || WORDS.test(text))).toEqual([true, true])
})

import { expect, test } from 'vitest'
import { bodyText, foreignAnswer } from './body-text.ts'

const PAGE = `<!DOCTYPE html>
<html><head><title>Error</title><style>pre { color: red }</style><script>track("<pre>")</script></head>
<body><!-- a --><pre>Cannot POST&nbsp;/api</pre></body></html>`

test.each([
  ['', ''],
  [' \n\t ', ''],
  ['not found', 'not found'],
  ['{"error":\n  "no"}', '{"error": "no"}'],
  ['a < b > c', 'a < b > c'],
  [PAGE, 'Error Cannot POST /api'],
  ['<html><script>never closed', ''],
  ['<h1>Bad gateway', 'Bad gateway'],
  ['a\u001b[2Jb', 'a [2Jb'],
  ['😀'.repeat(300), `${'😀'.repeat(200)}…`],
])('the text of %j', (body, text) => {
  expect(bodyText(body)).toBe(text)
})

test('a page that is all begins of tags takes no time', () => {
  const started = performance.now()
  for (const part of ['<!--', '<script', '<', '<a ', '&amp;']) bodyText(`<${part.repeat(300_000)}`)
  expect(performance.now() - started).toBeLessThan(1000)
})

test('a foreign answer names the address, the status and the text', () => {
  const answer = { url: 'http://localhost/x', status: 502, body: '<h1>Bad gateway.</h1>' }
  expect(foreignAnswer(answer)).toBe('http://localhost/x answered 502: Bad gateway.')
  expect(foreignAnswer({ ...answer, body: '' })).toBe('http://localhost/x answered 502.')
})

// Tokens and origins that the engine refuses for the page of the example chat: the page says so plainly, and the engine's log
// contains no token (docs/security.md#run-tokens).

import { expect, test } from 'vitest'
import { until } from '../../kit/index.ts'
import { type ChatPage, openChat } from './chat.entry.ts'

const chat = await openChat()
await chat.startRunner()

/** The text of the alert about the refused read. */
async function refusal({ page }: ChatPage): Promise<string> {
  const alert = page.getByRole('alert').locator('p')
  await alert.waitFor({ timeout: 30_000 })
  return alert.innerText()
}

test('a token of another run is refused', async () => {
  const [own, other] = [await chat.open(), await chat.open()]
  await own.ask('Tell me a story of 10 words.')
  await other.ask('Tell me a story of 10 words.')
  await Promise.all([own.ends(), other.ends()])
  const { runId } = await own.run()
  const { token } = await other.run()
  await own.page.route('**/api/chats/*/answer', route => route.fulfill({ json: { runId, token } }))
  await own.page.reload()
  expect(await refusal(own)).toBe('This page may not read that answer.')
  await own.page.unroute('**/api/chats/*/answer')
  await own.page.getByRole('button', { name: 'Read the answer again' }).click()
  const answer = await own.ends()
  expect((await own.texts()).at(-1)).toBe(answer)
  const query = await fetch(`${chat.engine.url}/runs/${runId}/streams/chat?token=${token}`)
  expect(query.status).toBe(403)
  await until(() => chat.engine.stderr.split('"status":403').length > 2, { what: 'both refusals in the log' })
  expect(tokensIn(chat.engine.stderr, token)).toEqual([])
})

test('a token that ends in the middle of the answer is refused, and a new one continues', async () => {
  // The first words come before the token ends, on a busy machine too, and the last long after it.
  const brief = await openChat({ tokenTtl: '3s', wordMs: 100 })
  await brief.startRunner()
  const page = await brief.open()
  await page.ask('Tell me a story of 100 words.')
  const { token } = await page.run()
  expect(await refusal(page)).toBe('The access to this answer has ended or is not valid.')
  const seen = (await page.texts()).at(-1) ?? ''
  expect(seen).not.toBe('')
  await until(() => brief.engine.stderr.includes('"status":401'), { what: 'the refusal in the log' })
  expect(tokensIn(brief.engine.stderr, token)).toEqual([])
  await page.stored()
  await page.page.getByRole('button', { name: 'Read the answer again' }).click()
  const answer = await page.ends()
  expect(answer.startsWith(seen)).toBe(true)
  expect((await page.texts()).at(-1)).toBe(answer)
})

test('a page of another origin is refused', async () => {
  const page = await chat.open({ isForeign: true })
  await page.ask('Where is my order 17?')
  expect(await refusal(page)).toBe('The engine cannot be reached from this page.')
  const { token } = await page.run()
  expect(tokensIn(chat.engine.stderr, token)).toEqual([])
})

/** The parts of a token found in a text. */
const tokensIn = (text: string, token: string) =>
  token.split(/[._]/).filter(part => part.length > 8 && text.includes(part))

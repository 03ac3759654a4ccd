// Several readers of one example chat: two tabs of a browser, a person who decides, and two hundred readers of one stream.

import { applyStreamMessages, EMPTY_STREAM } from '@perdure/client/internal'
import type { UIMessageChunk } from 'ai'
import { expect, test } from 'vitest'
import { story } from '../../../examples/chat/story.ts'
import { axeViolations } from '../../kit/browser/page.ts'
import { readSse, type SseMessage } from '../../kit/index.ts'
import { openChat } from './chat.entry.ts'

const READERS = 200

const chat = await openChat({ wordMs: 20 })
await chat.startRunner()

test('two tabs on the same chat show the same, whichever asks', async () => {
  const one = await chat.open({ chatId: 'shared' })
  const two = await chat.open({ chatId: 'shared', context: one.page.context() })
  await one.ask('Where is my order 17?')
  const first = await one.ends()
  await two.page.getByText('delivered on Monday.', { exact: false }).last().waitFor()
  await two.ends()
  await two.ask('Tell me a story of 60 words.')
  await one.shows(20)
  const second = await two.ends()
  await one.ends()
  const messages = await one.messages()
  expect(messages).toHaveLength(4)
  expect(await two.messages()).toEqual(messages)
  expect(first.split('\n\n').filter(text => !messages[1]?.includes(text))).toEqual([])
  expect(messages[3]).toBe(second)
})

test.each([
  ['Allow', 'The money for order 18 is on its way.', 'is done'],
  ['Refuse', 'I have not given any money back for order 18.', 'was refused'],
])('a tool asks the person at the page, also after a reload: %s', async (button, last, state) => {
  const page = await chat.open()
  await page.ask('I want my money back for order 18.')
  await page.page.getByRole('button', { name: button }).waitFor()
  expect(await axeViolations(page.page)).toEqual([])
  await page.page.reload()
  await page.page.getByRole('button', { name: button }).click()
  const answer = await page.ends()
  expect(answer).toBe(`I look up order 18.\n\n${last}`)
  expect((await page.texts()).at(-1)).toBe(answer)
  expect(await page.page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
    'find-order is done',
    `refund-order ${state}`,
  ])
})

test('the budget ends a model that loops, and the page says so', async () => {
  const page = await chat.open()
  await page.ask('What is the meaning of 42?')
  const alert = page.page.getByRole('alert')
  await alert.getByText(/budget.* of 4000 tokens/).waitFor()
  expect((await page.page.getByRole('heading', { level: 2 }).allInnerTexts()).at(-1)).toBe('ponder did not run')
})

test('Stop ends the run, and the page keeps what was said', async () => {
  const page = await chat.open()
  await page.ask('Tell me a story of 500 words.')
  await page.shows(10)
  await page.page.getByRole('button', { name: 'Stop' }).click()
  await page.page.getByRole('button', { name: 'Ask' }).waitFor()
  expect(story(500, 1).startsWith((await page.texts()).at(-1) ?? '-')).toBe(true)
  await page.ask('Where is my order 17?')
  expect(await page.ends()).toContain('delivered on Monday.')
})

test(`${READERS} readers of one answer get the same text`, async () => {
  const page = await chat.open()
  await page.ask('Tell me a story of 150 words.')
  await page.shows(10)
  const { runId, token } = await page.run()
  const url = `${chat.engine.url}/runs/${runId}/streams/chat?live=sse&offset=-1`
  const headers = { authorization: `Bearer ${token}` }
  const readers = await Promise.all(Array.from({ length: READERS }, () => readSse(url, { headers })))
  const answer = await page.ends()
  expect([...new Set(readers.map(({ status }) => status))]).toEqual([200])
  expect([...new Set(readers.map(({ messages }) => textOf(messages)))]).toEqual([answer])
  expect((await page.texts()).at(-1)).toBe(answer)
})

/** The valid text of the chat's stream, as received in server-sent events. */
function textOf(events: readonly SseMessage[]): string {
  const batches = events.filter(({ event }) => event === 'data').map(({ data }) => data as unknown as Batch)
  const { chunks } = batches.reduce(applyStreamMessages<UIMessageChunk>, EMPTY_STREAM)
  return chunks.map(({ chunk }) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('')
}
type Batch = Parameters<typeof applyStreamMessages<UIMessageChunk>>[1]

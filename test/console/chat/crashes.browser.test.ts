// The chat of the example over a reload, the death of its runner and of its engine, and a network that is gone for ten seconds:
// at the end the page shows what the run has stored, and nothing twice (docs/ai.md#chats).

import { expect, test } from 'vitest'
import { story } from '../../../examples/chat/story.ts'
import { until } from '../../kit/index.ts'
import { openChat } from './chat.entry.ts'

const NETWORK_CUT_MS = 10_000
const chat = await openChat()
const runner = await chat.startRunner(1)
const isBegin = (text: string, whole: string) => whole.startsWith(text)

test('a reload in the middle of an answer: it continues, with nothing twice and nothing missing', async () => {
  const page = await chat.open()
  await page.ask('Tell me a story of 200 words.')
  await page.shows(30)
  await page.page.reload()
  const answer = await page.ends()
  expect(answer).toBe(story(200, 1))
  const texts = await page.texts()
  expect(texts.at(-1)).toBe(answer)
  expect(texts.filter(text => !isBegin(text, answer))).toEqual([])
  expect(texts.length).toBeGreaterThan(2)
})

test('the runner is killed: the page drops the half answer and shows the new one', async () => {
  const page = await chat.open()
  await page.ask('Tell me a story of 200 words.')
  await page.shows(30)
  await runner.kill9()
  await chat.startRunner(2)
  const answer = await page.ends()
  expect(answer).toBe(story(200, 2))
  const texts = await page.texts()
  expect(texts.at(-1)).toBe(answer)
  const lost = story(200, 1)
  expect(texts.filter(text => !isBegin(text, lost) && !isBegin(text, answer))).toEqual([])
  expect(texts.filter(text => text !== '' && isBegin(text, lost)).length).toBeGreaterThan(1)
})

test('the engine is killed and started again: the page ends with the stored answer', async () => {
  const page = await chat.open()
  await page.ask('Tell me a story of 200 words.')
  await page.shows(30)
  await chat.engine.kill9()
  await page.isLost.waitFor({ timeout: 30_000 })
  await chat.engine.start()
  const answer = await page.ends()
  const texts = await page.texts()
  expect(texts.at(-1)).toBe(answer)
  expect(texts.filter(text => !isBegin(text, answer))).toEqual([])
  expect(await page.isLost.count()).toBe(0)
})

test('the network is gone for ten seconds: the page continues where it was', async () => {
  const far = await openChat({ wordMs: 50, hasNetwork: true })
  await far.startRunner()
  const page = await far.open()
  await page.ask('Tell me a story of 300 words.')
  const before = await page.shows(30)
  far.network?.down()
  await page.isLost.waitFor({ timeout: 30_000 })
  const { runId, token } = await page.run()
  const cutAt = performance.now()
  const stored = async () => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${far.engine.url}/runs/${runId}/streams/chat`, { headers })
    return ((await response.json()) as unknown[]).length
  }
  const chunksBefore = await stored()
  await until(async () => performance.now() - cutAt > NETWORK_CUT_MS && (await stored()) > chunksBefore + 100)
  far.network?.up()
  const answer = await page.ends()
  const texts = await page.texts()
  expect(texts.at(-1)).toBe(answer)
  expect(answer).toContain(before)
  expect(texts.filter(text => !isBegin(text, answer))).toEqual([])
})

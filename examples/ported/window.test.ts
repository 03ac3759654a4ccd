import { testEngine } from 'perdure/testing'
import { expect, test } from 'vitest'
import { convertGallery, convertPicture, WINDOW } from './window.ts'

test('1,200 pictures are converted twenty at a time, and each broken one is reported', async () => {
  await using engine = await testEngine([convertGallery, convertPicture])
  const run = await engine.start(convertGallery, { gallery: 'g-1', pictures: 1_200 })
  const [slots] = (await engine.api.listLimits({})).items

  expect(slots).toMatchObject({ limit: WINDOW, held: WINDOW })
  const { converted, failures } = await run.result({ within: '2h' })
  expect(converted).toBe(1_188)
  expect(failures).toHaveLength(12)
  expect(failures[0]).toEqual({ number: 100, message: 'picture 100 is broken' })
})

test('a second gallery has a window of its own', async () => {
  await using engine = await testEngine([convertGallery, convertPicture])
  const first = await engine.start(convertGallery, { gallery: 'g-1', pictures: 60 })
  const second = await engine.start(convertGallery, { gallery: 'g-2', pictures: 10 })

  await second.result({ within: '1m' })
  expect(await first.status()).toBe('waiting')
  await first.result({ within: '3m' })
})

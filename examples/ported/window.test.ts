import { setImmediate as turn } from 'node:timers/promises'
import { testEngine } from 'perdure/testing'
import { expect, test } from 'vitest'
import { convertGallery, convertPicture, WINDOW } from './window.ts'

test('1,200 pictures are converted twenty at a time, and each broken one is reported', async () => {
  await using engine = await testEngine([convertGallery, convertPicture])
  let [underWay, most] = [0, 0]
  engine.mock('convert', async ({ original }) => {
    most = Math.max(most, ++underWay)
    await turn()
    underWay--
    return original()
  })

  const run = await engine.start(convertGallery, { gallery: 'g-1', pictures: 1_200 })

  const { converted, failures } = await run.result()
  expect([converted, failures.length, most]).toEqual([1_188, 12, WINDOW])
  expect(failures[0]).toEqual({ number: 100, message: 'picture 100 is broken' })
})

test('a large gallery keeps no small one waiting', async () => {
  await using engine = await testEngine([convertGallery, convertPicture])
  const converting = engine.hold('convert')
  const large = await engine.start(convertGallery, { gallery: 'large', pictures: 60 })
  const small = await engine.start(convertGallery, { gallery: 'small', pictures: 3 })

  expect(await engine.api.listLimits({})).toMatchObject([
    { key: 'large', held: WINDOW, waiting: 40 },
    { key: 'small', held: 3, waiting: 0 },
  ])
  converting.release()
  expect(await large.result()).toEqual({ converted: 60, failures: [] })
  expect(await small.result()).toEqual({ converted: 3, failures: [] })
})

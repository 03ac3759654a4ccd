import { expect, test } from 'vitest'
import { aRun, eventually, listen, openStream, testApp } from '../../http.testkit.ts'

test.each(['/runs/stream', '/events/stream', '/runs/run_1/stream'])(
  'a thousand clients of %s that came and went leave nothing behind',
  async path => {
    const { app, faces } = testApp()
    faces.shelf().runRows.set('run_1', aRun({ status: 'waiting' }))
    const port = await listen(app)
    for (let batch = 0; batch < 10; batch++) {
      const streams = await Promise.all(Array.from({ length: 100 }, () => openStream(port, path)))
      expect(faces.listening).toBe(100)
      for (const stream of streams) stream.disconnect()
      await eventually(() => faces.listening === 0)
    }
    expect(faces.clock.timers.size).toBe(0)
    // A response still counted as in flight would hold this up for ever: the clock stands still.
    await app.close()
  },
)

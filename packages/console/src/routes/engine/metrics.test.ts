// The samples of the metrics text.

import { expect, test } from 'vitest'
import { samplesOf } from './metrics.ts'

test('a sample has its labels, its value to the last digit, and the help of its family', () => {
  const text = [
    '# HELP runs_seconds How long runs take',
    '# TYPE runs_seconds histogram',
    'runs_seconds_bucket{le="1"} 3',
    'runs_seconds_sum{app="a b"} 12.500',
    'up 1',
    '',
  ].join('\n')
  expect(samplesOf(text)).toEqual([
    { name: 'runs_seconds_sum', labels: 'app="a b"', value: '12.500', help: 'How long runs take' },
    { name: 'up', labels: '', value: '1', help: '' },
  ])
})

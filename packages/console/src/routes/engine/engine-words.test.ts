import { expect, test } from 'vitest'
import { laneWords, metricWords } from './engine-words.ts'

const lane = (name: 'runs' | 'deliveries' | 'timers', inFlight: number, max: number, lagMs?: number) => ({
  lane: name,
  inFlight,
  max,
  ...(lagMs === undefined ? {} : { lagMs }),
})

test('lanes are summed over the engines, and their lag is in words', () => {
  const engines = [
    { lanes: [lane('runs', 3, 1000, 12_000), lane('timers', 0, 100, 0)] },
    { lanes: [lane('runs', 4, 1000, 12_000), lane('timers', 1, 100)] },
  ]
  expect(laneWords(engines).map(({ sentence }) => sentence)).toEqual([
    '7 of at most 2000 runs in progress; the oldest due item has waited 12 s.',
    '1 of at most 200 timers in progress; no backlog.',
  ])
  expect(laneWords([{ lanes: [lane('deliveries', 0, 50)] }])).toEqual([
    {
      lane: 'deliveries',
      sentence: '0 of at most 50 webhook deliveries in progress; backlog unknown.',
    },
  ])
})

test('metrics are sentences; one whose numbers are missing is left out', () => {
  const sample = (name: string, value: string) => ({ name, value, labels: '', help: '' })
  const samples = [
    sample('perdure_store_batch_requests_sum', '9'),
    sample('perdure_store_batch_requests_count', '2'),
    sample('perdure_store_pending_requests', '1'),
    sample('perdure_streams_open', '1'),
    sample('perdure_streams_open', '2'),
  ]
  expect(metricWords(samples)).toEqual([
    '4.5 writes per batch on average.',
    '1 write is waiting for the disk.',
    '3 open streams.',
  ])
})
